/** Pods as the kernel has them: namespaces, limits and names of what runs, and the words in which that is shown. */
import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { REPOSITORY } from "../support/programs.ts";
import { CGROUP_VERSION, cgroupFile, namespaceOf } from "./kernel-files.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const MIB = 2 ** 20;
/** Of Kubernetes, k8s.io/api/core/v1. */
const PHASES = ["Pending", "Running", "Succeeded", "Failed", "Unknown"];
const CONDITIONS = ["PodScheduled", "Initialized", "ContainersReady", "Ready", "PodReadyToStartContainers"];
const QOS = ["Guaranteed", "Burstable", "BestEffort"];

interface Resources {
  readonly limits?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
}

describe.skipIf(!isRoot)("pods and the kernel (needs root)", () => {
  const scene = useEngine();
  const podText = (name: string, containers: Readonly<Record<string, Resources>>, metadata: object = {}, script = SLEEP) => {
    const names = Object.keys(containers);
    const roots = Object.fromEntries(names.map((one) => [`runt.dev/rootfs.${one}`, scene.rootfs()]));
    const { annotations = {}, ...more } = metadata as { annotations?: object };
    return JSON.stringify({
      ...{ apiVersion: "v1", kind: "Pod", metadata: { name, ...more, annotations: { ...roots, ...annotations } } },
      spec: {
        restartPolicy: "Never",
        terminationGracePeriodSeconds: 5,
        containers: names.map((one) => ({ name: one, command: ["/bin/sh", "-c", script], resources: containers[one] })),
      },
    });
  };
  let count = 0;
  const apply = (...texts: string[]) => scene.ctl("apply", "-f", scene.file(`pods-${++count}.yaml`, texts.join("\n---\n")));
  const get = async (name: string) => JSON.parse((await scene.ctl("get", name, "-o", "json")).stdout);
  const reaches = (name: string, phase: string) => until(async () => (await get(name)).status.phase === phase, LONGEST_MS);
  const pidOf = (pod: string, container: string) =>
    scene.list().find(({ id }) => id.startsWith(`default.${pod}.`) && id.includes(`.${container}-`))!.pid;
  const memoryOf = (pid: number, above = 0) =>
    Number(cgroupFile(pid, "memory", CGROUP_VERSION === 1 ? "memory.limit_in_bytes" : "memory.max", above));
  const quotaOf = (pid: number, above = 0) =>
    Number(
      CGROUP_VERSION === 1 ? cgroupFile(pid, "cpu", "cpu.cfs_quota_us", above) : cgroupFile(pid, "cpu", "cpu.max", above).split(" ")[0],
    );

  test(
    "P6 limits become limits of the kernel, and requests become CPU weights; P7: the pod has the sum of its containers; P33: pods with requests of the three quality-of-service classes are shown in these classes",
    async () => {
      await scene.daemon();
      const whole = { limits: { cpu: "100m", memory: "0.0625Gi" } };
      const texts = [
        podText("guaranteed", { a: whole, b: whole }),
        podText("burstable", { a: { requests: { cpu: "500m" }, limits: { memory: "32M" } }, b: {} }),
        podText("besteffort", { a: {} }),
      ];
      expect(await apply(...texts)).toMatchObject({ status: 0, stderr: "" });
      for (const name of ["guaranteed", "burstable", "besteffort"]) await reaches(name, "Running");
      const first = pidOf("guaranteed", "a");
      expect([memoryOf(first), quotaOf(first)]).toEqual([64 * MIB, 10_000]);
      expect([memoryOf(first, 1), quotaOf(first, 1)]).toEqual([128 * MIB, 20_000]);
      const second = pidOf("burstable", "a");
      // Whole pages.
      expect(memoryOf(second)).toBe(Math.floor(32_000_000 / 4096) * 4096);
      expect(memoryOf(pidOf("burstable", "b"))).not.toBe(memoryOf(second));
      if (CGROUP_VERSION === 1) {
        const sharesOf = (pid: number) => cgroupFile(pid, "cpu", "cpu.shares");
        expect([first, second, pidOf("besteffort", "a")].map(sharesOf)).toEqual(["102", "512", "1024"]);
      }
      const classes = await Promise.all(["guaranteed", "burstable", "besteffort"].map(async (name) => (await get(name)).status.qosClass));
      expect(classes).toEqual(["Guaranteed", "Burstable", "BestEffort"]);
      expect(await scene.ctl("delete", "guaranteed", "burstable", "besteffort")).toMatchObject({ status: 0 });
    },
    LONGEST_MS,
  );

  test("P8 the kernel limits a pod to the smallest size that fits; a pod that fits none is refused with both numbers, and nothing is started", async () => {
    const sizes = join(scene.directory, "sizes.json");
    writeFileSync(sizes, '[{ "cpu": "250m", "memory": ["64Mi", "128Mi"] }, { "cpu": 1, "memory": ["256Mi"] }]');
    await scene.daemon({ env: { RUNT_POD_SIZES: sizes } });
    expect((await apply(podText("small", { a: { limits: { memory: "70Mi" } } }))).status).toBe(0);
    await reaches("small", "Running");
    const pid = pidOf("small", "a");
    expect([memoryOf(pid), memoryOf(pid, 1), quotaOf(pid, 1)]).toEqual([70 * MIB, 128 * MIB, 25_000]);
    const before = scene.list();
    const refused = await apply(podText("large", { a: { requests: { cpu: "2", memory: "1Mi" } } }));
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining("needs 2 CPUs and 1 MiB of memory") });
    expect(scene.list()).toEqual(before);
    expect((await scene.ctl("delete", "small")).status).toBe(0);
  });

  test(
    "P9 a pod is one task: its containers share network and ipc, and no namespace of the host; P11 P23: the status has the annotations of a pod, and each container names its owner; P14: a name of separators is a valid name, and a duplicate name is refused; P1: a pod is shown with the terms of Kubernetes",
    async () => {
      const first = await scene.daemon();
      const metadata = { namespace: "team", uid: "u-1", annotations: { "example.org/role": "reader_a-b" } };
      const text = podText("a-b--c", { a: {}, b: {} }, metadata);
      expect(await apply(text)).toMatchObject({ status: 0, stderr: "" });
      await reaches("a-b--c", "Running");
      const [a, b] = [pidOf("a-b--c", "a"), pidOf("a-b--c", "b")];
      for (const name of ["net", "ipc"] as const) expect(namespaceOf(a, name)).toBe(namespaceOf(b, name));
      for (const name of ["pid", "mnt", "uts"] as const) expect(namespaceOf(a, name)).not.toBe(namespaceOf(b, name));
      for (const name of ["pid", "ipc", "net", "uts", "mnt"] as const)
        expect(namespaceOf(a, name)).not.toBe(namespaceOf(process.pid, name));
      const { tasks } = JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text);
      expect(tasks.map((one: { name: string }) => one.name)).toEqual(["a-b--c"]);

      const root = join(scene.stateDir, "executors/@runtime");
      const annotations = (id: string) =>
        JSON.parse(execFileSync(join(REPOSITORY, "bin/runt"), ["--root", root, "state", id], { encoding: "utf8" })).annotations;
      const whose = { "runt.dev/pod.namespace": "team", "runt.dev/pod.name": "a-b--c", "runt.dev/pod.uid": "u-1" };
      for (const name of ["a", "b"]) expect(annotations(scene.list().find(({ id }) => id.includes(`.${name}-`))!.id)).toMatchObject(whose);
      const shown = await get("a-b--c");
      expect(shown.metadata).toMatchObject(metadata);
      const { phase, qosClass, conditions, containerStatuses } = shown.status;
      expect([PHASES.includes(phase), QOS.includes(qosClass)]).toEqual([true, true]);
      // A condition of this engine has its domain, as Kubernetes asks for conditions of others.
      expect(conditions.filter(({ type }: { type: string }) => !CONDITIONS.includes(type) && !type.startsWith("runt.dev/"))).toEqual([]);
      for (const { state } of containerStatuses) expect(Object.keys(state)).toEqual(["running"]);

      const twice = await apply(text, text);
      expect(twice).toMatchObject({ status: 1, stderr: expect.stringContaining("the task a-b--c is there twice") });
      // What the files beside the store say is a copy.
      await first.kill();
      for (const name of readdirSync(join(scene.stateDir, "tasks"))) writeFileSync(join(scene.stateDir, "tasks", name), "{");
      await scene.daemon();
      expect(await get("a-b--c")).toEqual(shown);
      expect((await scene.ctl("delete", "a-b--c")).status).toBe(0);
    },
    LONGEST_MS,
  );
});
