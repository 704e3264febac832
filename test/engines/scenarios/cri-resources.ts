/** Limits, what is measured, devices and mounts. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ImageDefinition } from "../image.ts";
import type { Scenario } from "../scenario.ts";
import { criScenario, eventually, type Node, SLEEP } from "./cri-pod.ts";

const MEGABYTE = 1024 * 1024;
const PRIVATE = 0;
const FROM_HOST = 1;
const BOTH_WAYS = 2;
/** Not there on the host. */
const LINKED = "/var/tmp/runt-engines-linked";
const READ_ONLY = /Read-only file system/;

const cgroups: readonly Scenario[] = [
  criScenario("limits", async (node) => {
    const pod = await node.pod();
    const container = await pod.start(SLEEP, {
      resources: { memoryLimit: 64 * MEGABYTE, cpuQuota: 50_000, cpuPeriod: 100_000, cpuShares: 512, cpusetCpus: "0", oomScoreAdj: 100 },
    });
    assert.deepEqual(
      [
        container.cgroupFile("memory", "memory.limit_in_bytes"),
        container.cgroupFile("cpu", "cpu.cfs_quota_us"),
        container.cgroupFile("cpu", "cpu.shares"),
        container.cgroupFile("cpuset", "cpuset.cpus"),
        await container.shell("cat /proc/1/oom_score_adj"),
      ],
      [String(64 * MEGABYTE), "50000", "512", "0", "100"],
    );
  }),
  criScenario("update of the limits", async (node) => {
    const pod = await node.pod();
    const container = await pod.start(SLEEP, { resources: { memoryLimit: 64 * MEGABYTE, cpuShares: 512 } });
    await node.cri.call("UpdateContainerResources", {
      containerId: container.id,
      linux: { memoryLimit: 96 * MEGABYTE, cpuQuota: 25_000, cpuPeriod: 100_000, cpuShares: 256, cpusetCpus: "0" },
    });
    assert.deepEqual(
      [
        container.cgroupFile("memory", "memory.limit_in_bytes"),
        container.cgroupFile("cpu", "cpu.cfs_quota_us"),
        container.cgroupFile("cpu", "cpu.shares"),
        container.cgroupFile("cpuset", "cpuset.cpus"),
      ],
      [String(96 * MEGABYTE), "25000", "256", "0"],
    );
    // Of a container that does not run yet it changes what it will start with.
    const later = await pod.create(SLEEP);
    await node.cri.call("UpdateContainerResources", { containerId: later.id, linux: { memoryLimit: 48 * MEGABYTE } });
    await node.cri.call("StartContainer", { containerId: later.id });
    assert.equal(later.cgroupFile("memory", "memory.limit_in_bytes"), String(48 * MEGABYTE));
  }),
  criScenario("statistics of container and pod", async (node) => {
    const pod = await node.pod();
    const container = await pod.start(["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exec sleep 1000"]);
    await eventually(async () => {
      const { stats } = await node.cri.call("ContainerStats", { containerId: container.id });
      assert.equal(stats?.attributes?.id, container.id);
      const ofPod = (await node.cri.call("PodSandboxStats", { sandboxId: pod.id })).stats?.linux;
      const [time, podTime] = [stats, ofPod].map((of) => of?.cpu?.usageCoreNanoseconds?.value ?? 0) as [number, number];
      const [memory, podMemory] = [stats, ofPod].map((of) => of?.memory?.workingSetBytes?.value ?? 0) as [number, number];
      assert(time > 1_000_000, `time of the container: ${time} ns`);
      assert(podTime >= time, `time of the pod: ${podTime} ns, of its container: ${time} ns`);
      assert(Math.min(memory, podMemory) > 4096, `memory of the container: ${memory} bytes, of the pod: ${podMemory} bytes`);
      assert.deepEqual(
        ofPod?.containers.map(({ attributes }) => attributes?.id),
        [container.id],
      );
    });
  }),
  criScenario("out of memory", async (node) => {
    const pod = await node.pod();
    // containerd's shim listens for this event only once `start` has returned.
    const container = await pod.start(["sh", "-c", "sleep 1; exec dd if=/dev/zero of=/dev/null bs=64M count=1"], {
      resources: { memoryLimit: 16 * MEGABYTE },
    });
    const { exitCode } = await container.exited();
    assert.equal(exitCode, 137);
    await eventually(async () => assert.equal((await container.status()).reason, "OOMKilled"));
  }),
  criScenario("devices", async (node) => {
    const pod = await node.pod();
    const given = await pod.start(SLEEP, {
      config: { devices: [{ containerPath: "/dev/given", hostPath: "/dev/loop-control", permissions: "r" }] },
    });
    await given.shell("test -c /dev/given && exec 3</dev/given");
    assert.notEqual((await given.exec("sh", "-c", "exec 3>/dev/given")).exitCode, 0);
    const plain = await pod.start();
    await plain.shell("echo > /dev/null && head -c 1 /dev/urandom && ! test -e /dev/given");
  }),
];

/** The usual image, with links where volumes are to be mounted. */
export const LINKS: ImageDefinition = {
  reference: "localhost/runt-links:1",
  command: ["sh"],
  layer(directory) {
    symlinkSync(`${LINKED}/absolute`, join(directory, "absolute"));
    symlinkSync(`../../../../../../../..${LINKED}/relative`, join(directory, "relative"));
  },
};

/** A directory of the scenario with a file. */
function source(node: Node): string {
  const directory = join(node.directory, "source");
  mkdirSync(join(directory, "below"), { recursive: true });
  writeFileSync(join(directory, "file"), "text\n");
  return directory;
}

const mounts: readonly Scenario[] = [
  criScenario("mounts: read-write, read-only, one file", async (node) => {
    const hostPath = source(node);
    const container = await (await node.pod()).start(SLEEP, {
      config: {
        mounts: [
          { hostPath, containerPath: "/rw" },
          { hostPath, containerPath: "/ro", readonly: true },
          { hostPath: join(hostPath, "file"), containerPath: "/etc/one" },
        ],
      },
    });
    assert.equal(await container.shell("echo new > /rw/made; cat /ro/made /etc/one"), "new\ntext");
    assert.match((await container.exec("touch", "/ro/x")).stderr, READ_ONLY);
  }),
  criScenario("mounts: propagation", async (node) => {
    const hostPath = source(node);
    const pod = await node.pod({ security: { privileged: true, namespaces: { pid: 1 } } });
    const mount = (propagation: number) => ({ config: { mounts: [{ hostPath, containerPath: "/mnt", propagation }] } });
    const [apart, fromHost, both] = [
      await pod.start(SLEEP, mount(PRIVATE)),
      await pod.start(SLEEP, mount(FROM_HOST)),
      await pod.start(SLEEP, mount(BOTH_WAYS)),
    ];
    const below = join(hostPath, "below");
    const sees = async (name: string) =>
      Promise.all([apart, fromHost, both].map(async (one) => (await one.exec("test", "-e", name)).exitCode));
    execFileSync("mount", ["-t", "tmpfs", "of-the-host", below]);
    try {
      writeFileSync(join(below, "made"), "");
      assert.deepEqual(await sees("/mnt/below/made"), [1, 0, 0]);
    } finally {
      execFileSync("umount", [below]);
    }
    await both.shell("mount -t tmpfs of-the-container /mnt/below && touch /mnt/below/made");
    try {
      assert.deepEqual(await sees("/mnt/below/made"), [1, 0, 0]);
      execFileSync("test", ["-e", join(below, "made")]);
    } finally {
      execFileSync("umount", [below]);
    }
    await fromHost.shell("mount -t tmpfs of-the-container /mnt/below && touch /mnt/below/made");
    assert.deepEqual(await sees("/mnt/below/made"), [1, 0, 1]);
  }),
  criScenario("mounts: a link in the image does not lead out of it", async (node) => {
    const hostPath = source(node);
    const pod = await node.pod();
    const container = await pod.start(SLEEP, {
      config: {
        image: { image: LINKS.reference },
        mounts: [
          { hostPath, containerPath: "/absolute/made" },
          { hostPath, containerPath: "/relative/made" },
        ],
      },
    });
    assert.equal(await container.shell(`cat ${LINKED}/absolute/made/file ${LINKED}/relative/made/file`), "text\ntext");
    assert.equal(existsSync(LINKED), false);
  }),
];

export const resourceScenarios: readonly Scenario[] = [...cgroups, ...mounts];
