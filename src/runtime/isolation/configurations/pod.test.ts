import { describe, expect, it } from "vitest";
import type { Spec } from "../../spec/index.ts";
import { podResources } from "../asked/pod.ts";
import { DEFAULT_SETTINGS } from "../asked/settings.ts";
import { type AttachRequest, type EndRequest, fromEntries, type JoinedRequest, type MachineRequest } from "../request.ts";
import type { SandboxMachine } from "./parts.ts";
import { type Sides, splitSpec } from "./split.ts";

const MACHINE: SandboxMachine = {
  ...{ pid: 7, startTime: "99", memoryMiB: 256 },
  ownerOf: (type, path) =>
    path === `/proc/7/ns/${type}` || path === "/run/netns/pod" ? {} : path === `/proc/9/ns/${type}` ? { joined: "other" } : undefined,
};
const SPEC: Spec = {
  ociVersion: "1.0.2",
  root: { path: "rootfs" },
  process: { args: ["sh"], cwd: "/" },
  annotations: { "io.kubernetes.cri.container-type": "container", "io.kubernetes.cri.sandbox-id": "s" },
  mounts: [
    { destination: "/dev/shm", type: "bind", source: "/run/pod/shm", options: ["rbind", "rw"] },
    { destination: "/data", type: "bind", source: "data", options: ["rbind"] },
  ],
  linux: {
    namespaces: [
      ...["pid", "mount"].map((type) => ({ type })),
      ...["ipc", "uts"].map((type) => ({ type, path: `/proc/7/ns/${type}` })),
      { type: "network", path: "/run/netns/pod" },
    ],
  },
};

const split = (change: Partial<Spec> = {}, sandbox: SandboxMachine | undefined = MACHINE): Sides =>
  splitSpec(
    { ...SPEC, ...change },
    {
      ...{ id: "c", inBundle: (path) => (path.startsWith("/") ? path : `/b/${path}`), runt: "/usr/bin/runt", settings: DEFAULT_SETTINGS },
      ...(sandbox && { sandbox }),
    },
  );

describe("a container in the machine of its sandbox", () => {
  it("has its own entry of the share, the sandbox's namespaces, and the pod's shared memory", () => {
    const { host, guest } = split();
    expect(host.mounts?.find(({ destination }) => destination === "/share/volume-0")).toMatchObject({ source: "/b/data" });
    expect(host.mounts?.some(({ source }) => source === "/run/pod/shm")).toBe(false);
    expect(guest.root).toEqual({ path: "/joined/c/root" });
    expect(guest.mounts).toEqual([
      { destination: "/dev/shm", type: "bind", source: "/dev/shm", options: ["rbind", "rw"] },
      { destination: "/data", type: "bind", source: "/joined/c/volume-0", options: ["rbind"] },
    ]);
    expect(guest.linux?.cgroupsPath).toBe("/joined-c");
    expect(guest.linux?.namespaces).toEqual([
      { type: "pid" },
      ...["ipc", "uts"].map((type) => ({ type, path: `/run/sandbox/ns/${type}` })),
      { type: "network", path: "/run/sandbox/ns/net" },
      { type: "mount" },
    ]);
  });

  it("may have the processes of another container that has joined", () => {
    const namespaces = [...SPEC.linux!.namespaces!.slice(1), { type: "pid", path: "/proc/9/ns/pid" }];
    const { host, guest } = split({ linux: { namespaces } });
    expect(guest.linux?.namespaces).toContainEqual({ type: "pid", path: "/run/joined-other/ns/pid" });
    expect(host.linux?.namespaces).toContainEqual({ type: "pid", path: "/proc/7/ns/pid" });
  });

  it("is a process in the monitor's pid namespace on the host, with little memory, and leaves the machine at its end", () => {
    const { host, machine } = split();
    expect(host.process?.args).toEqual(["/runt", "machine-join"]);
    expect(machine).toEqual({ socket: "/proc/1/root/run/monitor.sock", memoryMiB: 256, joined: { pid: 7, startTime: "99" } });
    expect(fromEntries(host.process!.env!) as JoinedRequest).toEqual({ what: "adoption", name: "c", terminal: false, memoryMiB: 256 });
    expect(host.linux?.namespaces).toContainEqual({ type: "pid", path: "/proc/7/ns/pid" });
    expect(host.linux?.resources).toEqual({ memory: { limit: 64 * 1024 ** 2 }, pids: { limit: 64 } });
    expect(host.hooks?.createContainer?.[0]).toMatchObject({ args: ["runt", "machine-attach"] });
    expect(fromEntries(host.hooks!.createContainer![0]!.env!) as AttachRequest).toMatchObject({ id: "c", rootfs: "/b/rootfs" });
    const { joined } = fromEntries(host.hooks!.poststop![0]!.env!) as EndRequest;
    expect(joined).toEqual({ id: "c", pid: 7, startTime: "99" });
  });

  it.each<[string, Partial<Spec>, RegExp]>([
    [
      "namespaces of others",
      { linux: { namespaces: [...SPEC.linux!.namespaces!, { type: "user", path: "/proc/8/ns/user" }] } },
      /user name/,
    ],
    ["a network of its own", { linux: { namespaces: ["pid", "ipc", "mount", "network"].map((type) => ({ type })) } }, /network of its own/],
    ["more memory than there is", { linux: { ...SPEC.linux, resources: { memory: { limit: 161 << 20 } } } }, /has 160 MiB for containers/],
  ])("cannot have %s", (_, change, words) => {
    expect(() => split(change)).toThrow(words);
  });
});

describe("a sandbox", () => {
  it("has a machine for what its containers may use together, with its own shared memory", () => {
    const annotations = {
      "io.kubernetes.cri.container-type": "sandbox",
      "io.kubernetes.cri.sandbox-memory": String(512 << 20),
      "io.kubernetes.cri.sandbox-cpu-quota": "150000",
      "io.kubernetes.cri.sandbox-cpu-period": "100000",
    };
    const namespaces = ["pid", "ipc", "mount"].map((type) => ({ type }));
    const { host, guest } = splitSpec(
      { ...SPEC, annotations, linux: { namespaces } },
      { id: "s", inBundle: (path) => path, runt: "/usr/bin/runt", settings: DEFAULT_SETTINGS },
    );
    expect(fromEntries(host.hooks!.createContainer![0]!.env!) as MachineRequest).toMatchObject({ cpus: 2, memoryMiB: 608 });
    expect(guest.mounts?.[0]).toMatchObject({ destination: "/dev/shm", source: "/dev/shm" });
  });

  it("joins on the host what CRI-O has pinned of its pod, and has its own in the guest", () => {
    const pinned = ["ipc", "uts"].map((type) => ({ type, path: `/var/run/${type}ns/1` }));
    const annotations = { "io.kubernetes.cri-o.ContainerType": "sandbox", "io.kubernetes.cri-o.SandboxID": "s" };
    const input = { id: "s", inBundle: (path: string) => path, runt: "/usr/bin/runt", settings: DEFAULT_SETTINGS };
    const of = (namespaces: { type: string; path?: string }[], marks: Spec["annotations"] = annotations): Sides =>
      splitSpec({ ...SPEC, annotations: marks, linux: { namespaces: [{ type: "pid" }, ...namespaces] } }, input);
    const { host, guest } = of(pinned);
    expect(host.linux?.namespaces).toEqual([{ type: "pid" }, { type: "mount" }, ...pinned]);
    expect(guest.linux?.namespaces).toEqual(["pid", "ipc", "uts", "network", "mount"].map((type) => ({ type })));
    expect(of([pinned[0]!]).host.linux?.namespaces).toContainEqual({ type: "uts" });
    const [ipc] = pinned;
    for (const [namespaces, marks] of [
      [[ipc!], {}],
      [[{ type: "ipc", path: "/proc/1/ns/ipc" }], annotations],
      [[ipc!, { type: "user", path: "/var/run/userns/1" }], annotations],
    ] as const) {
      expect(() => of([...namespaces], marks)).toThrow(/^a container in a machine cannot have a (?:ipc|user) namespace of others$/);
    }
  });

  it("K36: has CPUs by its shares where it has no quota", () => {
    const shares = { "io.kubernetes.cri.sandbox-cpu-quota": "-1", "io.kubernetes.cri.sandbox-cpu-shares": "2560" };
    expect(podResources(shares, undefined)?.cpu).toEqual({ quota: 2560n, period: 1024n });
    const own = { memory: { limit: 5 } };
    expect(podResources({}, own)).toBe(own);
  });
});
