/** A pod as CRI-O has it: its namespaces are files that were there before the sandbox, and its containers name the same files. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { useHarness } from "../support/harness.ts";
import {
  isThere,
  type Machine,
  machineMissing,
  pidOf,
  programs,
  stayingBundle,
  untilUp,
  VM,
  VM_TIMEOUT,
  WITH_IMAGE,
} from "../support/vm.ts";

const missing = machineMissing();
const CRIO = "io.kubernetes.cri-o";
const TYPES = { network: "net", ipc: "ipc", uts: "uts" } as const;
type Type = keyof typeof TYPES;
const LINKS = "readlink /proc/self/ns/net /proc/self/ns/ipc /proc/self/ns/uts; hostname";

describe.skipIf(missing !== undefined)(`a pod of CRI-O in a machine${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT }, () => {
  const harness = useHarness();
  const { id, ok, runtime, until } = harness;
  let files: string[] = [];

  /** As pinns makes them. Returns the path of each. */
  function pinned(name: string): Record<Type, string> {
    const directory = mkdtempSync(join(harness.directory, name));
    const paths = { network: join(directory, "net"), ipc: join(directory, "ipc"), uts: join(directory, "uts") };
    for (const path of Object.values(paths)) writeFileSync(path, "");
    const flags = Object.entries(paths).map(([type, path]) => `--${TYPES[type as Type]}=${path}`);
    execFileSync("unshare", [...flags, "true"]);
    files.push(...Object.values(paths));
    return paths;
  }

  const ofPod =
    (paths: Record<Type, string>, type: string, sandboxId: string, pid: { type: string; path?: string }) => (config: Config) => {
      config.annotations = { [`${CRIO}.ContainerType`]: type, [`${CRIO}.SandboxID`]: sandboxId };
      config.linux.namespaces = [pid, { type: "mount" }, ...Object.entries(paths).map(([each, path]) => ({ type: each, path }))];
      config.hostname = "the-pod";
      config.mounts = config.mounts.map((each) =>
        each.destination === "/dev/shm" ? { destination: "/dev/shm", type: "bind", source: "/dev/shm", options: ["rbind"] } : each,
      );
    };

  async function running(name: string, change: (config: Config) => void): Promise<Machine> {
    const { bundle, marks } = stayingBundle(harness, name, change);
    await ok(["create", ...VM, "--pid-file", join(bundle, "pid"), "-b", bundle, name], WITH_IMAGE);
    const pid = pidOf(bundle);
    await ok(["start", name]);
    await untilUp({ pid, marks });
    return { name, bundle, marks, pid };
  }

  const sh = ({ name }: Machine, command: string) => ok(["exec", name, "/bin/sh", "-c", command]);

  beforeEach(() => {
    files = [];
  });
  afterEach(() => {
    for (const path of files) execFileSync("umount", [path]);
  });

  test("has one machine, which its containers find by the annotation and join by the files", async () => {
    const paths = pinned("pod");
    const pod = id();
    const infra = await running(pod, ofPod(paths, "sandbox", pod, { type: "pid" }));
    const one = await running(id(), ofPod(paths, "container", pod, { type: "pid" }));
    const two = await running(id(), ofPod(paths, "container", pod, { type: "pid", path: `/proc/${infra.pid}/ns/pid` }));
    expect([...programs(infra).keys()].sort()).toEqual(["qemu-system-x86", "runt", "virtiofsd"]);
    const seen = await sh(infra, LINKS);
    expect(seen).toContain("the-pod");
    for (const each of [one, two]) expect(await sh(each, LINKS)).toBe(seen);
    const processes = "readlink /proc/self/ns/pid";
    expect(await sh(two, processes)).toBe(await sh(infra, processes));
    expect(await sh(one, processes)).not.toBe(await sh(infra, processes));

    // The files of another pod, under the name of this one.
    const other = stayingBundle(harness, id(), ofPod({ ...paths, ipc: pinned("other").ipc }, "container", pod, { type: "pid" }));
    const refused = await runtime(["create", ...VM, "-b", other.bundle, other.name], WITH_IMAGE);
    expect(refused.stderr).toContain("a ipc namespace of others than its sandbox");
    expect(refused.status).toBe(1);

    await ok(["delete", "--force", pod]);
    for (const each of [one, two]) {
      await until(each.name, "stopped");
      expect(isThere(each.pid)).toBe(false);
      await ok(["delete", each.name]);
    }
    const late = stayingBundle(harness, id(), ofPod(paths, "container", pod, { type: "pid" }));
    expect((await runtime(["create", ...VM, "-b", late.bundle, late.name], WITH_IMAGE)).stderr).toContain(
      `its sandbox ${pod} has no machine that runs`,
    );
    // They are the engine's, and go on without the sandbox.
    expect(readFileSync("/proc/self/mountinfo", "utf8")).toContain(paths.ipc);
  });

  test("is refused where a file is a namespace of the host", async () => {
    const paths = pinned("pod");
    execFileSync("umount", [paths.ipc]);
    execFileSync("mount", ["--bind", "/proc/self/ns/ipc", paths.ipc]);
    const pod = id();
    const { bundle } = stayingBundle(harness, pod, ofPod(paths, "sandbox", pod, { type: "pid" }));
    const { status, stderr } = await runtime(["create", ...VM, "-b", bundle, pod], WITH_IMAGE);
    expect(stderr).toContain("a container in a machine cannot have the ipc namespace of the host");
    expect(status).toBe(1);
  });
});
