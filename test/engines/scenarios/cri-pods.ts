/** Pod sandboxes: their life, and what their containers share. */
import assert from "node:assert/strict";
import { readFileSync, readlinkSync } from "node:fs";
import { OTHER_HANDLER } from "../cri-config.ts";
import type { Scenario } from "../scenario.ts";
import { commandLines, criScenario, EXITED, eventually, OF_NODE, OF_POD, OF_TARGET, type Pod, READY, RUNNING, SLEEP } from "./cri-pod.ts";

const PODS_AT_ONCE = 20;

const namespaces = async (pod: Pod, types: string): Promise<readonly string[]> => {
  const found = await Promise.all(
    pod.containers.map((container) => container.shell(`for t in ${types}; do readlink /proc/self/ns/$t; done`)),
  );
  return found;
};
const ofHost = (types: string): string =>
  types
    .split(" ")
    .map((type) => readlinkSync(`/proc/self/ns/${type}`))
    .join("\n");

const single: readonly Scenario[] = [
  criScenario("pod: run, stop, remove", async (node) => {
    const pod = await node.pod();
    const { state, network, handler } = await pod.status();
    assert.equal(state, READY);
    assert.equal(handler, "");
    assert.match(network?.ip ?? "", /^10\.89\.0\.\d+$/);
    await pod.stop();
    assert.notEqual((await pod.status()).state, READY);
    // kubelet repeats itself.
    await pod.stop();
    await pod.remove();
    await pod.remove();
    await assert.rejects(pod.status(), /not found/);
  }),
  criScenario("pod: its first process dies", async (node) => {
    const pod = await node.pod();
    const { info } = await node.cri.call("PodSandboxStatus", { sandboxId: pod.id, verbose: true });
    process.kill((JSON.parse(info["info"] ?? "{}") as { pid: number }).pid, "SIGKILL");
    await eventually(async () => assert.notEqual((await pod.status()).state, READY));
    await pod.stop();
    await pod.remove();
  }),
  criScenario("pod: hostname, DNS, sysctls", async (node) => {
    const pod = await node.pod({
      config: { dns: { servers: ["192.0.2.1"] }, hostname: "of-the-pod" },
      sysctls: { "kernel.shm_rmid_forced": "1", "net.ipv4.ip_unprivileged_port_start": "80" },
    });
    const container = await pod.start();
    assert.equal(await container.shell("hostname; grep nameserver /etc/resolv.conf"), "of-the-pod\nnameserver 192.0.2.1");
    assert.equal(await container.shell("cat /proc/sys/kernel/shm_rmid_forced /proc/sys/net/ipv4/ip_unprivileged_port_start"), "1\n80");
  }),
  criScenario("pod: is stopped with its containers", async (node) => {
    const pod = await node.pod();
    const container = await pod.start();
    await pod.stop();
    assert.equal((await container.status()).state, EXITED);
    await pod.remove();
    assert.deepEqual((await node.cri.call("ListContainers", {})).containers, []);
  }),
];

const shared: readonly Scenario[] = [
  criScenario("two containers: net, ipc and uts of the pod", async (node) => {
    const pod = await node.pod();
    await pod.start();
    await pod.start();
    const types = "net ipc uts";
    const [first, second] = await namespaces(pod, types);
    assert.equal(first, second);
    for (const [index, link] of ofHost(types).split("\n").entries()) assert.notEqual(first?.split("\n")[index], link);
    const [pids, others] = await namespaces(pod, "pid mnt");
    assert.notEqual(pids, others);
  }),
  criScenario("two containers: the pod's loopback and address", async (node) => {
    const pod = await node.pod();
    await pod.start(["nc", "-ll", "-p", "8080", "-e", "echo", "served"]);
    const client = await pod.start();
    await eventually(async () => assert.equal((await client.exec("nc", "127.0.0.1", "8080")).stdout, "served\n"));
    const other = await (await node.pod()).start();
    const { network } = await pod.status();
    await eventually(async () => assert.equal((await other.exec("nc", network?.ip ?? "", "8080")).stdout, "served\n"));
  }),
  criScenario("two containers: /dev/shm of the pod", async (node) => {
    const pod = await node.pod();
    const writer = await pod.start();
    const reader = await pod.start();
    await writer.shell("echo text > /dev/shm/file");
    assert.equal(await reader.shell("cat /dev/shm/file"), "text");
  }),
  criScenario("two containers: pid namespace of the pod", async (node) => {
    const pod = await node.pod({ security: { namespaces: { network: OF_POD, pid: OF_POD, ipc: OF_POD } } });
    const first = await pod.start(["sh", "-c", "sleep 4321 & sleep 4322 & wait"]);
    const second = await pod.start();
    const [a, b] = await namespaces(pod, "pid");
    assert.equal(a, b);
    await eventually(async () => assert.match(await second.shell("ps -o args"), /^sleep 4321[\s\S]*^sleep 4322/m));
    // The first process is the pod's, not the container's: the rest of the container has to be killed one by one.
    await first.stop(0);
    const left = await second.shell("ps -o args");
    assert.doesNotMatch(left, /sleep 432/);
    assert.match(left, /^sleep 1000$/m);
  }),
  criScenario("two containers: pid namespace of the other", async (node) => {
    const pod = await node.pod();
    const target = await pod.start(["sh", "-c", "sleep 4323 & wait"]);
    const namespacesOfTarget = { network: OF_POD, pid: OF_TARGET, ipc: OF_POD, targetId: target.id };
    const other = await pod.start(SLEEP, { security: { namespaces: namespacesOfTarget } });
    assert.match(await other.shell("ps -o args"), /^sleep 4323$/m);
    assert.equal(await other.shell("readlink /proc/self/ns/pid"), await target.shell("readlink /proc/self/ns/pid"));
  }),
];

const ofNode: readonly Scenario[] = [
  criScenario("network of the host", async (node) => {
    const pod = await node.pod({ security: { namespaces: { network: OF_NODE, pid: 1, ipc: OF_POD } }, config: { hostname: "" } });
    const container = await pod.start();
    assert.deepEqual(await namespaces(pod, "net uts"), [ofHost("net uts")]);
    assert.match(await container.shell("ip link"), /runt-cri0/);
  }),
  criScenario("pid namespace of the host: nothing of a container outlives it", async (node) => {
    const pod = await node.pod({ security: { namespaces: { network: OF_POD, pid: OF_NODE, ipc: OF_POD } } });
    const container = await pod.start(["sh", "-c", "sleep 4324 & sleep 4325 & sleep 0.5; exit 3"]);
    assert.deepEqual(await namespaces(pod, "pid"), [ofHost("pid")]);
    assert.equal((await container.exited()).exitCode, 3);
    await eventually(() => assert.doesNotMatch(commandLines().join("\n"), /^sleep 432/m));
  }),
  criScenario("ipc namespace of the host", async (node) => {
    const pod = await node.pod({ security: { namespaces: { network: OF_POD, pid: 1, ipc: OF_NODE } } });
    await pod.start();
    assert.deepEqual(await namespaces(pod, "ipc"), [ofHost("ipc")]);
  }),
  criScenario("privileged", async (node) => {
    const pod = await node.pod({ security: { privileged: true, namespaces: { network: OF_POD, pid: 1, ipc: OF_POD } } });
    const container = await pod.start();
    const bounding = /CapBnd:\s+(\w+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    assert.match(await container.shell("grep -E 'CapEff|Seccomp:' /proc/1/status"), new RegExp(`CapEff:\\s+${bounding}\\nSeccomp:\\s+0`));
    await container.shell("mkdir /tmp/m && mount -t tmpfs none /tmp/m && umount /tmp/m");
    await container.shell("echo of-a-privileged > /proc/sys/kernel/domainname");
    await container.shell("test -c /dev/kmsg && head -c 0 /dev/kmsg && test -w /sys/fs/cgroup/memory");
  }),
];

const node: readonly Scenario[] = [
  criScenario(`${PODS_AT_ONCE} pods at once`, async (host) => {
    const pods = await Promise.all(Array.from({ length: PODS_AT_ONCE }, () => host.pod()));
    const containers = await Promise.all(pods.map((pod) => pod.start(["sh", "-c", "echo $HOSTNAME; exec sleep 1000"])));
    await Promise.all(containers.map(async (container) => assert.equal((await container.status()).state, RUNNING)));
    const names = await Promise.all(containers.map((container) => container.shell("hostname")));
    assert.equal(new Set(names).size, PODS_AT_ONCE);
    await Promise.all(
      pods.map(async (pod) => {
        await pod.stop();
        await pod.remove();
      }),
    );
  }),
  criScenario("containerd is replaced under running pods", async (host) => {
    const pod = await host.pod();
    const container = await pod.start();
    await host.engine.restart();
    assert.equal((await pod.status()).state, READY);
    assert.equal((await container.status()).state, RUNNING);
    assert.equal(await container.shell("echo still here"), "still here");
    const later = await pod.start(["sh", "-c", "exit 4"]);
    assert.equal((await later.exited()).exitCode, 4);
  }),
  criScenario("pods of this runtime and of runc beside each other", async (host) => {
    const [own, other] = [await host.pod(), await host.pod({ handler: OTHER_HANDLER })];
    for (const pod of [own, other]) assert.equal(await (await pod.start()).shell("echo $PPID"), "0");
    assert.deepEqual([(await own.status()).handler, (await other.status()).handler], ["", OTHER_HANDLER]);
  }),
];

export const podScenarios: readonly Scenario[] = [...single, ...shared, ...ofNode, ...node];
