import { expect, test } from "vitest";
import { parseTasks } from "../spec/index.ts";
import { launchOf, type Placement } from "./launch.ts";

const launched = (placement: Partial<Placement>) => {
  const text = "{ name: t, namespaces: { network: shared }, containers: [{ name: c, rootfs: /r, command: x }] }";
  const task = parseTasks(text).tasks[0]!;
  const places = { cgroupParent: "/t", log: "/log", annotations: {}, architecture: "x64", pause: "pause" };
  return launchOf(task, task.containers[0]!, { ...places, ...placement } as Placement);
};

test("E95: in a virtual machine a container says who has booted it, and has the program for connections in it", () => {
  const relay = "/state/pause/1/pause";
  expect(launched({ relay })).toMatchObject({
    sandbox: "pause",
    annotations: { "io.kubernetes.cri.container-type": "container", "io.kubernetes.cri.sandbox-id": "pause" },
    mounts: [{ destination: "/dev/runt-pause", source: relay, options: expect.arrayContaining(["ro", "nosuid"]) }],
  });
  const plain = launched({});
  expect([plain.sandbox, plain.annotations, plain.mounts]).toEqual([undefined, {}, []]);
});

test("limits of processes, of /dev/shm and of CPUs reach the runtime", () => {
  const fields = "rlimits: { nofile: { soft: 10, hard: unlimited } }, shmSize: 1Mi, oomScoreAdj: 500, cpuset: '0'";
  const task = parseTasks(`{ name: t, containers: [{ name: c, rootfs: /r, command: x, ${fields} }] }`).tasks[0]!;
  const places = { cgroupParent: "/t", log: "/log", annotations: {}, architecture: "x64", sources: [] };
  expect(launchOf(task, task.containers[0]!, places)).toMatchObject({
    rlimits: [{ type: "RLIMIT_NOFILE", soft: 10, hard: 2n ** 64n - 1n }],
    oomScoreAdj: 500,
    resources: { cpuset: "0" },
    mounts: [{ destination: "/dev/shm", type: "tmpfs", options: expect.arrayContaining(["size=1048576", "nosuid", "nodev", "noexec"]) }],
  });
});

test("devices, domain, groups, swap, AppArmor and mounts that are passed on reach the runtime", () => {
  const fields = `groups: [5, video], domainname: d, apparmor: p, memory: 1Mi, memorySwap: 3Mi, env: { A: task },
    mounts: [{ source: /mnt, target: /mnt, propagation: rslave }]`;
  const task = parseTasks(`{ name: t, containers: [{ name: c, rootfs: /r, command: x, ${fields} }] }`).tasks[0]!;
  const sources = [{ path: "/mnt", device: 1n, inode: 2n }];
  const devices = { nodes: [], rules: [{ type: "c" as const }], env: { A: "device" }, mounts: [], gids: [7], hooks: { poststop: [] } };
  const places = { cgroupParent: "/t", log: "/log", annotations: {}, architecture: "x64", sources, devices };
  expect(launchOf(task, task.containers[0]!, places)).toMatchObject({
    ...{ additionalGids: [5, 7], additionalGroups: ["video"], domainname: "d", apparmorProfile: "p", hooks: { poststop: [] } },
    ...{ resources: { memoryBytes: 2 ** 20, memorySwapBytes: 3 * 2 ** 20 }, env: { A: "device" }, deviceRules: [{ type: "c" }] },
    mounts: [{ options: ["rbind", "rslave", "nosuid", "nodev", "src-nofollow=1:2", "rw"] }],
  });
});

test("a reference to the address of the task is replaced in command, arguments and variables, and no other one is", () => {
  const fields = `command: "$(IP)", args: ["-b", "$(IP):80 $(OTHER)"], env: { URL: "http://$(IP)/", OTHER: o }, addressEnv: [IP]`;
  const task = parseTasks(`{ name: t, network: { mode: bridge }, containers: [{ name: c, rootfs: /r, ${fields} }] }`).tasks[0]!;
  const places = { cgroupParent: "/t", log: "/log", annotations: {}, architecture: "x64", engineEnv: { IP: "10.0.0.1", OTHER: "e" } };
  expect(launchOf(task, task.containers[0]!, places)).toMatchObject({
    cmd: "10.0.0.1",
    args: ["-b", "10.0.0.1:80 $(OTHER)"],
    env: { IP: "10.0.0.1", URL: "http://10.0.0.1/", OTHER: "o" },
  });
});

test("a program has its hostname and the kind of its terminal as variables, unless image or task say otherwise", () => {
  const envOf = (fields: string, placement: Partial<Placement> = {}, more = "network: { mode: bridge }") => {
    const task = parseTasks(`{ name: t, ${more}, containers: [{ name: c, rootfs: /r, command: x, ${fields} }] }`).tasks[0]!;
    const places = { cgroupParent: "/t", log: "/log", annotations: {}, architecture: "x64", pause: "pause" };
    return (launchOf(task, task.containers[0]!, { ...places, ...placement }) as { env: object }).env;
  };
  const network = { path: "/net" } as NonNullable<Placement["network"]>;
  expect(envOf("tty: true", { network })).toEqual({ HOSTNAME: "t", TERM: "xterm" });
  expect(envOf("hostname: own", { network })).toEqual({ HOSTNAME: "own" });
  expect(envOf("env: {}", {}, "namespaces: { uts: shared }")).toEqual({ HOSTNAME: "t" });
  expect(envOf("env: { HOSTNAME: given }", { network })).toEqual({ HOSTNAME: "given" });
});
