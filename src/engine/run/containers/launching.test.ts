import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { canBeDeaf, mountKnownDeaf } from "../../../../test/support/deaf-mount.ts";
import { newRecord, PAUSE_NAME, runtimeId } from "../../model/index.ts";
import { taskSchema } from "../../spec/index.ts";
import { Paths } from "../paths.ts";
import { Devices } from "../resources/devices.ts";
import { TaskVolumes } from "../resources/volumes.ts";
import { Launching, makerOf } from "./launching.ts";

const RUNTIMES = { vm: "/usr/sbin/runt-vm", other: "/usr/sbin/other-runt" };
const at = { bootId: "b", bootMs: 0, wallMs: 0 };

const makers = (runtime: string | undefined, runtimes: Readonly<Record<string, string>> = RUNTIMES) => {
  const containers = [{ name: "c", rootfs: "/r", command: "x" }];
  const spec = taskSchema.parse({ name: "t", ...(runtime === undefined ? {} : { runtime }), namespaces: { ipc: "shared" }, containers });
  const id = "g.t.1";
  const records = new Map([[id, newRecord({ id, group: "g", spec, cgroup: null, at })]]);
  return ["c", PAUSE_NAME].map((name) => makerOf(records, runtimes, runtimeId(id, name, 1)));
};

test("P3 what holds shared namespaces is made by the usual program, but in a machine, which it boots", () => {
  expect(makers(undefined)).toEqual([undefined, undefined]);
  expect(makers("other")).toEqual([RUNTIMES.other, undefined]);
  expect(makers("vm")).toEqual([RUNTIMES.vm, RUNTIMES.vm]);
});

test("a runtime that the host no longer has makes nothing", () => {
  expect(makers("vm", {})).toEqual([undefined, undefined]);
  expect(makers("constructor")).toEqual([undefined, undefined]);
});

test.skipIf(!canBeDeaf)("no path that a task names is opened on a mount that does not answer: it is refused with its name", async () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-launching-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const deaf = join(directory, "deaf");
  mkdirSync(deaf);
  const path = join(directory, "link/named");
  symlinkSync(deaf, join(directory, "link"));
  const paths = new Paths(join(directory, "state"));
  const volumes = new TaskVolumes({ paths, pullPolicy: "default", runtimes: {}, kept: {} as never, images: {} as never, log: () => {} });
  const resources = [volumes, new Devices([])];
  const launching = new Launching({ paths, resources, pause: {} as never, cgroupParent: "/", runtimes: {} });
  const record = (container: object, task: object = {}) => {
    const spec = taskSchema.parse({ name: "t", containers: [{ name: "c", rootfs: "/r", command: "x", ...container }], ...task });
    return newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at });
  };
  const message = `${path} does not answer within 10 s: deaf (fuse) is mounted at ${deaf}`;
  await mountKnownDeaf(deaf);
  await launching.answered(record({}), "c");
  for (const container of [
    { rootfs: path },
    { envFiles: ["/etc/hostname", path] },
    { seccomp: path },
    { mounts: [{ source: path, target: "/m" }] },
    { devices: [{ source: path }] },
    { blockIo: { devices: [{ path, readBps: 1 }] } },
  ])
    await expect(launching.answered(record(container), "c"), JSON.stringify(container)).rejects.toThrow(message);
  await expect(launching.answered(record({ rootfs: undefined, command: undefined, bundle: path }), "c")).rejects.toThrow(message);
  const bundle = join(directory, "bundle");
  mkdirSync(bundle);
  writeFileSync(join(bundle, "config.json"), JSON.stringify({ root: { path: "../link/named" } }));
  await expect(launching.answered(record({ rootfs: undefined, command: undefined, bundle }), "c")).rejects.toThrow(message);
  const ofHost = record({ mounts: [{ volume: "v", target: "/m" }] }, { volumes: [{ name: "v", host: path }] });
  await expect(launching.answered(ofHost, "c")).rejects.toThrow(message);
  const confined = record({}, { volumes: [{ name: "v", host: path }], hostPaths: [directory] });
  const patience = { signal: new AbortController().signal, onLate: () => {}, patienceMs: 0 };
  await expect(volumes.make(confined, "volume:v", patience)).rejects.toThrow(message);
});
