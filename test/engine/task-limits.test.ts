/** Limits of all containers of a task together, as the kernel has them. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { taskCgroups } from "./daemon-cgroups.ts";
import { CGROUP_VERSION, cgroupFile, placesOf } from "./kernel-files.ts";
import { eventsOf, http, isRoot, until, useEngine } from "./support.ts";
import { type ContainerText, taskText } from "./tasks.ts";

const MIB = 1024 * 1024;

describe.skipIf(!isRoot)("limits of a task (needs root)", () => {
  const scene = useEngine();
  const task = async (name = "t") => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
  const apply = async (containers: readonly ContainerText[], fields: Readonly<Record<string, unknown>> = {}, name = "t") => {
    const { status, text } = await http(scene.socket, "POST", "/v1/apply", { text: taskText(scene.rootfs(), name, containers, fields) });
    expect([status, text]).toEqual([expect.toSatisfy((code: number) => code < 300), expect.anything()]);
  };
  const run = async (...given: Parameters<typeof apply>) => {
    await apply(...given);
    await until(async () => (await task(given[2])).known === "RUNNING");
    return pidOf;
  };
  const pidOf = (name: string) => scene.list().find(({ id, status }) => id.includes(`.${name}-`) && status === "running")!.pid;
  const events = async () => (await eventsOf(scene.socket, 0)).map(({ data }) => `${data["type"]} ${data["known"]}`);
  const limitsOf = (pid: number) =>
    CGROUP_VERSION === 1
      ? {
          memory: cgroupFile(pid, "memory", "memory.limit_in_bytes", 1),
          cpu: `${cgroupFile(pid, "cpu", "cpu.cfs_quota_us", 1)} ${cgroupFile(pid, "cpu", "cpu.cfs_period_us", 1)}`,
          pids: cgroupFile(pid, "pids", "pids.max", 1),
        }
      : {
          memory: cgroupFile(pid, "memory", "memory.max", 1),
          cpu: cgroupFile(pid, "cpu", "cpu.max", 1),
          pids: cgroupFile(pid, "pids", "pids.max", 1),
        };

  test("T2 T11: limits of the whole task grow and become less in place, with those of its containers, and the processes stay", async () => {
    await scene.daemon();
    const of = (cpus: number, memory: number) => [
      { name: "a", fields: { cpus, memory: `${memory}Mi` } },
      { name: "b", fields: { cpus, memory: `${memory}Mi` } },
    ];
    await run(of(0.1, 32), { cpus: 0.2, memory: "64Mi", pids: 30 });
    const [a, b] = [pidOf("a"), pidOf("b")];
    for (const [cpus, memory, pids] of [
      [0.3, 48, 40],
      [0.05, 16, 20],
    ] as const) {
      await apply(of(cpus, memory), { cpus: cpus * 2, memory: `${memory * 2}Mi`, pids });
      const expected = { memory: String(memory * 2 * MIB), cpu: `${cpus * 200_000} 100000`, pids: String(pids) };
      await until(() => JSON.stringify(limitsOf(a)) === JSON.stringify(expected));
      await until(async () => (await task()).containers.every(({ updateError }: { updateError?: unknown }) => !updateError));
      expect([pidOf("a"), pidOf("b"), (await task()).generation]).toEqual([a, b, 1]);
    }
    expect((await scene.ctl("delete", "t")).status).toBe(0);
  });

  test("T2: the cgroup of the task is made with its limits before anything else; T11: all containers are below the cgroup of the task, in every hierarchy; T4: that cgroup and the level above it are removed from each hierarchy with the task", async () => {
    await scene.daemon();
    await run([{ name: "a" }, { name: "b" }], { cpus: 0.25, memory: "64Mi", pids: 30 });
    const { id } = await task();
    for (const name of ["a", "b"]) {
      expect(limitsOf(pidOf(name))).toEqual({ memory: String(64 * MIB), cpu: "25000 100000", pids: "30" });
      for (const place of placesOf(pidOf(name))) expect(place).toContain(`${CGROUP_PARENT}/${id}-`);
    }
    const order = await events();
    expect(order.indexOf("resource CREATED")).toBeGreaterThanOrEqual(0);
    expect(order.indexOf("resource CREATED")).toBeLessThan(order.indexOf("container PULLED"));
    expect((await scene.ctl("delete", "t")).status).toBe(0);
    expect(taskCgroups()).toEqual([]);
  });

  test("T6: a task without a limit has none; T8: the weight of a task is that of its containers together; T12: CPU shares outside the kernel's bounds are adjusted, and apply, the event and the journal say so", async () => {
    await scene.daemon();
    const weighted = [0, 1, 512].map((cpuShares) => ({ name: `s${cpuShares}`, fields: { cpuShares } }));
    const text = taskText(scene.rootfs(), "t", weighted);
    const applied = await http(scene.socket, "POST", "/v1/apply", { text });
    expect(JSON.parse(applied.text).warnings).toEqual([
      "t: container s0: cpuShares: the kernel does not take 0; the container gets 2",
      "t: container s1: cpuShares: the kernel does not take 1; the container gets 2",
    ]);
    await until(async () => (await task()).known === "RUNNING");
    const adjusted = (await eventsOf(scene.socket, 0)).flatMap(({ data }) =>
      data["adjusted"] === undefined ? [] : [[data["container"], data["known"], data["adjusted"]]],
    );
    expect(adjusted).toEqual([
      ["s0", "CREATED", { cpuShares: { asked: 0, applied: 2 } }],
      ["s1", "CREATED", { cpuShares: { asked: 1, applied: 2 } }],
    ]);
    expect((await scene.ctl("events", "t")).stdout).toContain("cpuShares 2 instead of 0");
    const unlimited = CGROUP_VERSION === 1 ? /^9223372036854771712$/ : /^max$/;
    expect(limitsOf(pidOf("s0")).memory).toMatch(unlimited);
    expect(limitsOf(pidOf("s0")).pids).toBe("max");
    if (CGROUP_VERSION === 1) {
      expect(cgroupFile(pidOf("s0"), "cpu", "cpu.shares", 1)).toBe("516");
      expect(["s0", "s1", "s512"].map((name) => cgroupFile(pidOf(name), "cpu", "cpu.shares"))).toEqual(["2", "2", "512"]);
    } else expect(cgroupFile(pidOf("s0"), "cpu", "cpu.weight", 1)).toBe("59");
  });

  test("T7: two containers that would take all of a CPU share the quarter that their task has", async () => {
    await scene.daemon();
    await run(
      [1, 2].map((at) => ({ name: `loop${at}`, script: "while :; do :; done" })),
      { cpus: 0.25 },
    );
    const used = () =>
      CGROUP_VERSION === 1
        ? Number(cgroupFile(pidOf("loop1"), "cpuacct", "cpuacct.usage", 1)) / 1e9
        : Number(/usage_usec (\d+)/.exec(cgroupFile(pidOf("loop1"), "cpu", "cpu.stat", 1))![1]) / 1e6;
    const [before, begun] = [used(), performance.now()];
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const share = (used() - before) / ((performance.now() - begun) / 1000);
    // On a busy host they may get less. Periods are counted only where there is a quota.
    expect(share).toBeLessThan(0.25 * 1.1);
    expect(Number(/nr_periods (\d+)/.exec(cgroupFile(pidOf("loop1"), "cpu", "cpu.stat", 1))![1])).toBeGreaterThan(0);
  });

  test("T9: if two containers within their own limits exceed the limit of the task together, one is killed for lack of memory", async () => {
    await scene.daemon();
    const eater = "x=$(head -c 41943040 /dev/zero | tr '\\0' x); sleep 1000";
    await apply(
      ["a", "b"].map((name) => ({ name, script: eater, fields: { essential: name === "a" } })),
      { memory: "64Mi" },
    );
    await until(async () => (await task()).containers.some(({ exit }: { exit: { code: number } | null }) => exit?.code === 137));
    const killed = (await task()).containers.find(({ exit }: { exit: { code: number } | null }) => exit?.code === 137);
    expect(killed.exit).toMatchObject({ signal: 9, oomKilled: true });
    expect(killed.reason).toContain("the kernel killed it for memory");
  });

  test("T10: a fork loop meets the limit of the task", async () => {
    await scene.daemon();
    await run([{ name: "fork", script: `sh -c 'i=0; while [ $i -lt 40 ]; do sleep 1000 & i=$((i+1)); done'; exec sleep 1000` }], {
      pids: 16,
    });
    // Newer kernels count it where the limit is, older ones where the fork was.
    await until(() => [0, 1].some((above) => /max [1-9]/.test(cgroupFile(pidOf("fork"), "pids", "pids.events", above))));
    expect(Number(cgroupFile(pidOf("fork"), "pids", "pids.current", 1))).toBeLessThanOrEqual(16);
  });

  test("E49: a container without a limit of memory reads that of its task", async () => {
    await scene.daemon();
    await run([{ name: "free" }, { name: "own", fields: { memory: "32Mi" } }], { memory: "128Mi" });
    const file = CGROUP_VERSION === 1 ? "memory.limit_in_bytes" : "memory.max";
    expect(cgroupFile(pidOf("free"), "memory", file)).toBe(String(128 * MIB));
    expect(cgroupFile(pidOf("own"), "memory", file)).toBe(String(32 * MIB));
  });

  test("T1: a task keeps its cgroup if the daemon is reconfigured to make no cgroups; a new task has none, and cannot have limits", async () => {
    const first = await scene.daemon();
    await run([{ name: "old" }], { memory: "64Mi" }, "old");
    await first.kill();
    await scene.daemon({ args: ["--no-task-limits"] });
    expect(limitsOf(pidOf("old")).memory).toBe(String(64 * MIB));
    await run([{ name: "new" }], {}, "new");
    const { id } = await task("new");
    expect(readFileSync(`/proc/${pidOf("new")}/cgroup`, "utf8")).not.toContain(`${CGROUP_PARENT}/${id}-`);
    const limited = await http(scene.socket, "POST", "/v1/apply", {
      text: taskText(scene.rootfs(), "more", [{ name: "x" }], { pids: 10 }),
    });
    expect([limited.status, limited.text]).toEqual([422, expect.stringMatching(/\/pids.*switched off on this host/)]);
    for (const name of ["old", "new"]) expect((await scene.ctl("delete", name)).status).toBe(0);
    expect(taskCgroups()).toEqual([]);
  });

  // Where cgroup v2 cannot be written the daemon does not start: it is in a cgroup itself.
  test.runIf(CGROUP_VERSION === 1)("T2: if a hierarchy cannot be written, the task stops and names the cgroup", async () => {
    const where = "/sys/fs/cgroup/memory";
    await scene.daemon({ before: `mount --make-rprivate / && mount --bind ${where} ${where} && mount -o remount,bind,ro ${where}` });
    await apply([{ name: "a" }], { memory: "64Mi" });
    await until(async () => (await task()).known === "STOPPED");
    expect((await task()).reason).toMatch(new RegExp(`the resource cgroup could not be created: .*${where}${CGROUP_PARENT}/.*EROFS`));
    expect(scene.list()).toEqual([]);
  });

  test("a cgroup of somebody else is not removed: the task's name has a part that nobody knows before", async () => {
    await scene.daemon();
    const parent = CGROUP_VERSION === 1 ? `/sys/fs/cgroup/pids${CGROUP_PARENT}` : `/sys/fs/cgroup${CGROUP_PARENT}`;
    const foreign = `${parent}/default.t.1`;
    execFileSync("mkdir", ["-p", foreign]);
    try {
      await run([{ name: "a" }]);
      expect((await scene.ctl("delete", "t")).status).toBe(0);
      expect(taskCgroups().filter((path) => path !== parent)).toEqual([foreign]);
    } finally {
      execFileSync("rmdir", [foreign]);
    }
  });
});
