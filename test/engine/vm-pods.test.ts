/** Pods whose runtime class makes virtual machines, for real: each machine boots by software emulation. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { machineMissing, programs, VM_TIMEOUT } from "../support/vm.ts";
import { STAY, useMachines } from "./machines.ts";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, identityOf, until, useEngine } from "./support.ts";

const missing = machineMissing();

describe.skipIf(missing !== undefined)(`pods in machines${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT }, () => {
  const scene = useEngine();
  const { options, pod, apply, status, reaches, isReady, exec, said, logs, containerOf, deleted } = useMachines(scene);
  const daemon = () => scene.daemon(options());

  test("a pod of one container boots a machine: probes, logs, exec, limits, another daemon, delete", async () => {
    const first = await daemon();
    const probe = { exec: { command: ["/bin/sh", "-c", "test -e /tmp/ready"] }, periodSeconds: 1, timeoutSeconds: 60 };
    const limits = { cpu: "1", memory: "48Mi" };
    await apply(pod("web", [{ name: "a", readinessProbe: probe, resources: { limits } }]));
    await reaches("web", "Running");
    // Nothing holds namespaces for one container.
    expect(scene.list()).toHaveLength(1);
    const { pid } = containerOf("a-");
    const machine = programs({ pid });
    expect([...machine.keys()].sort()).toEqual(["qemu-system-x86", "runt", "virtiofsd"]);
    await until(async () => /^up on \S+-cloud-amd64$/m.test(await logs("web", "a")));

    expect(await isReady("web")()).toBe(false);
    expect(await said("web", "a", "touch /tmp/ready; uname -r")).toMatch(/-cloud-amd64$/);
    await until(isReady("web"));
    const metrics = (await http(scene.socket, "GET", "/v1/metrics")).text;
    expect(metrics).toContain('runt_machine_guest_up{group="default",task="web"} 1\n');
    expect(metrics).toMatch(/^runt_machine_guest_memory_total_bytes\{group="default",task="web"\} \d+$/m);
    expect((await exec("web", "a", "exit 7")).status).toBe(7);
    expect((await exec("web", "a", "tail /dev/zero")).status).toBe(137);
    // The limit is that of the machine; the hypervisor needs more on the host.
    expect(taskLimit(pid)).toBeGreaterThan(1024 ** 4);
    expect(Number(/MemTotal:\s+(\d+)/.exec(await said("web", "a", "cat /proc/meminfo"))![1])).toBeLessThan((48 + 96 + 2) * 1024);

    const before = [identityOf(pid), scene.list()];
    await first.kill();
    await daemon();
    expect([identityOf(pid), scene.list()]).toEqual(before);
    expect(await status("web")).toMatchObject({ phase: "Running", containerStatuses: [{ restartCount: 0 }] });
    expect(await said("web", "a", "echo again")).toBe("again");
    await until(isReady("web"));
    await deleted("web", machine);
  });

  test("the containers of a pod share one machine, and end with it", async () => {
    const first = await daemon();
    const volume = { volumes: [{ name: "v", emptyDir: {} }] };
    const volumeMounts = [{ name: "v", mountPath: "/v" }];
    const alive = { exec: { command: ["/bin/sh", "-c", "test ! -e /v/sick"] }, periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 60 };
    const init = { name: "first", command: ["/bin/sh", "-c", "echo made > /v/first"], volumeMounts };
    const resources = { limits: { memory: "32Mi" } };
    const containers = [
      { name: "a", volumeMounts, resources },
      { name: "b", volumeMounts, livenessProbe: alive, script: `rm -f /v/sick; echo start >> /v/starts; ${STAY}` },
    ];
    await apply(pod("web", containers, { ...volume, initContainers: [init], restartPolicy: "Always" }));
    await reaches("web", "Running");
    const pause = containerOf("runtd-pause").pid;
    const machine = programs({ pid: pause });
    expect([...machine.keys()].sort()).toEqual(["qemu-system-x86", "runt", "virtiofsd"]);

    const shared = "cat /proc/sys/kernel/random/boot_id; readlink /proc/self/ns/net; readlink /proc/self/ns/ipc";
    const seen = await said("web", "a", shared);
    expect(seen.split("\n")).toHaveLength(3);
    expect(await said("web", "b", shared)).toBe(seen);
    expect(await said("web", "a", "readlink /proc/self/ns/pid")).not.toBe(await said("web", "b", "readlink /proc/self/ns/pid"));
    expect(await said("web", "a", "hostname; cat /v/first")).toBe("web\nmade");
    // One limit of 32 MiB, and what a container without one counts.
    const memory = Number(/MemTotal:\s+(\d+)/.exec(await said("web", "b", "cat /proc/meminfo"))![1]);
    expect(memory).toBeGreaterThan(200 * 1024);
    expect((await exec("web", "a", "tail /dev/zero")).status).toBe(137);
    await exec("web", "a", "busybox nc -l -p 5000 -e /bin/echo beside >/dev/null 2>&1 & sleep 1");
    expect(await said("web", "b", "busybox nc 127.0.0.1 5000")).toBe("beside");

    const before = [identityOf(pause), scene.list()];
    await first.kill();
    await daemon();
    expect([identityOf(pause), scene.list()]).toEqual(before);

    // A container that is started anew joins the same machine.
    await exec("web", "b", "touch /v/sick");
    await until(async () => (await status("web")).containerStatuses[1].restartCount === 1, VM_TIMEOUT);
    await until(async () => (await said("web", "a", "cat /v/starts")) === "start\nstart");
    expect(identityOf(pause)).toBe(before[0]);
    await until(async () => (await said("web", "b", shared)) === seen);

    process.kill(machine.get("qemu-system-x86")!, "SIGKILL");
    await reaches("web", "Failed");
    await deleted("web", machine);
  });

  test("what a check by exec has started ends with its deadline", async () => {
    await daemon();
    const probe = { exec: { command: ["/bin/sh", "-c", "sleep 4321; true"] }, periodSeconds: 1, timeoutSeconds: 5 };
    await apply(pod("web", [{ name: "a", readinessProbe: probe }]));
    await reaches("web", "Running");
    const failures = async () => Number(/(\d+) failures in a row/.exec((await scene.ctl("describe", "web")).stdout)?.[1]);
    await until(async () => (await failures()) >= 3, VM_TIMEOUT);
    // That of the check which is being made.
    expect(Number(await said("web", "a", "ps | grep -c '[s]leep 4321$'"))).toBeLessThanOrEqual(1);
    await deleted("web", programs({ pid: containerOf("a-").pid }));
  });

  test("a machine that breaks is one that its container ends with, and starts with anew", async () => {
    await daemon();
    await apply(pod("web", [{ name: "a" }], { restartPolicy: "Always" }));
    await reaches("web", "Running");
    const { pid } = containerOf("a-");
    process.kill(programs({ pid }).get("virtiofsd")!, "SIGKILL");
    await until(async () => (await status("web")).containerStatuses[0].restartCount === 1, VM_TIMEOUT);
    await reaches("web", "Running");
    await until(() => containerOf("a-") !== undefined && containerOf("a-").pid !== pid, VM_TIMEOUT);
    await deleted("web", programs({ pid: containerOf("a-").pid }));
  });

  describe.skipIf(noNetworks !== undefined)(`with a network${noNetworks ? ` (${noNetworks})` : ""}`, () => {
    const host = useNetworkHost(scene);

    test("a port of the host leads to the machine, and what its network cannot reach it cannot reach", async () => {
      await host.daemon(options());
      const script = "mkdir -p /tmp/web; uname -r >/tmp/web/kernel; busybox httpd -p 80 -h /tmp/web; echo up; sleep 100000";
      const server = { name: "a", script, ports: [{ containerPort: 80, hostPort: 18_085 }] };
      await apply(pod("web", [server, { name: "b" }]));
      await reaches("web", "Running");
      await until(async () => (await logs("web", "a")) === "up\n");
      const fetched = "fetch('http://127.0.0.1:18085/kernel').then((a) => a.text()).then((text) => console.log(text.trim()))";
      expect(await host.on(process.execPath, "-e", fetched)).toMatch(/-cloud-amd64\n$/);
      expect(await said("web", "b", "busybox wget -q -O - http://127.0.0.1/kernel")).toMatch(/-cloud-amd64$/);
      expect(await said("web", "b", "busybox ip route")).toContain("blackhole 169.254.169.254");
      await deleted("web", programs({ pid: containerOf("runtd-pause").pid }));

      // A single container boots the machine in the network of its pod.
      await apply(pod("web", [server]));
      await reaches("web", "Running");
      await until(async () => (await logs("web", "a")) === "up\n");
      expect(await host.on(process.execPath, "-e", fetched)).toMatch(/-cloud-amd64\n$/);
      expect(scene.list()).toHaveLength(1);
      await deleted("web", programs({ pid: containerOf("a-").pid }));
      await until(async () => (await host.left()).length === 0);
    });
  });
});

/** Bytes that the task of this container may have on the host. */
function taskLimit(pid: number): number {
  const line = readFileSync(`/proc/${pid}/cgroup`, "utf8")
    .split("\n")
    .find((one) => one.includes(":memory:"));
  const path = line === undefined ? undefined : line.split(":")[2];
  const file =
    path === undefined
      ? `/sys/fs/cgroup${execFileSync("sed", ["-n", "s/^0:://p", `/proc/${pid}/cgroup`], { encoding: "utf8" }).trim()}/../memory.max`
      : `/sys/fs/cgroup/memory${path}/../memory.limit_in_bytes`;
  const text = readFileSync(file, "utf8").trim();
  return text === "max" ? Number.POSITIVE_INFINITY : Number(text);
}
