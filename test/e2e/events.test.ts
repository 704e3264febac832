/** events: statistics once and at intervals, OOM kills at once, the end with the container. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isUnified } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { listensForEvents } from "../support/process-status.ts";

const MIB = 1024 * 1024;
const LIMITS = { memory: { limit: 16 * MIB, swap: 16 * MIB }, pids: { limit: 20 }, cpu: { quota: 50_000, period: 100_000 } };
const hasMemory = !isUnified || readFileSync("/sys/fs/cgroup/cgroup.controllers", "utf8").includes("memory");

interface Event {
  readonly type: string;
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about
  readonly data?: any;
}

const parse = (text: string): Event[] =>
  text
    .trimEnd()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

describe.skipIf(!isRoot || !isRunt || !hasMemory)("events (needs root and a memory controller)", () => {
  const { bundle, id, ok, runtime, until } = useHarness();

  async function running(command: string, change: (config: Config) => void = () => {}): Promise<string> {
    const name = id();
    const path = bundle((config) => {
      shell(config, command);
      config.linux.resources = LIMITS;
      change(config);
    });
    await ok(["run", "-d", "-b", path, name]);
    return name;
  }

  test("--stats: one line, with what the kernel counts", async () => {
    const name = await running("i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; exec sleep 1000");
    const text = await ok(["events", "--stats", name]);
    expect(text.match(/\n/g)).toHaveLength(1);
    const [event] = parse(text);
    expect(event).toMatchObject({
      type: "stats",
      id: name,
      data: {
        cpu: { usage: { total: expect.any(Number) } },
        memory: { usage: { limit: 16 * MIB, usage: expect.any(Number), failcnt: 0 }, swap: { limit: 16 * MIB } },
        pids: { current: 1, limit: 20 },
        intel_rdt: {},
        network_interfaces: null,
      },
    });
    const { cpu, memory } = event?.data ?? {};
    expect(cpu.usage.total).toBeGreaterThan(0);
    expect(memory.usage.usage).toBeLessThanOrEqual(16 * MIB);
    expect(Object.keys(event?.data)).toEqual(["cpu", "cpuset", "memory", "pids", "blkio", "hugetlb", "intel_rdt", "network_interfaces"]);
    const counted = memory.raw[isUnified ? "file" : "cache"];
    expect([counted === 0 ? undefined : counted, typeof memory.raw.pgfault]).toEqual([memory.cache, "number"]);
    if (isUnified) expect(existsSync("/sys/fs/cgroup/cpu.pressure")).toBe(cpu.psi !== undefined);
  });

  test("a created and a paused container have statistics too", async () => {
    const name = id();
    await ok(["create", "-b", bundle((config) => shell(config, "sleep 1000")), name]);
    expect(parse(await ok(["events", "--stats", name]))[0]?.data.pids.current).toBe(1);
    await ok(["pause", name]);
    expect(parse(await ok(["events", "--stats", name]))[0]?.data.pids.current).toBe(1);
    await ok(["resume", name]);
  });

  test("the stream has statistics at every interval, and ends with the container", async () => {
    const name = await running("exec sleep 1000");
    let said = "";
    const begun = Date.now();
    const stream = runtime(["events", "--interval", "100ms", name], { started: (_, output) => (said = output) });
    await expect.poll(() => parse(readFileSync(said, "utf8")).length, { interval: 20 }).toBeGreaterThanOrEqual(2);
    await ok(["kill", name, "KILL"]);
    const { status, stdout, stderr } = await stream;
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const events = parse(stdout);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(["stats"]));
    expect(events.length).toBeLessThanOrEqual(1 + (Date.now() - begun) / 100);
  });

  /** v1 notifies more than once for a kill. */
  function expectOom(stdout: string, name: string): void {
    const events = parse(stdout);
    expect(events[0]).toEqual({ type: "oom", id: name });
    expect(new Set(events.map((event) => JSON.stringify(event))).size).toBe(1);
    if (isUnified) expect(events).toHaveLength(1);
  }

  /** The program goes on when somebody listens. */
  const GATE = "until [ -e /dev/go ]; do sleep 0.1; done";
  async function listening(name: string): Promise<{ readonly ended: ReturnType<typeof runtime> }> {
    let listener = 0;
    const ended = runtime(["events", "--interval", "1h", name], { started: (child) => (listener = child.pid ?? 0) });
    await expect.poll(() => listensForEvents(listener), { interval: 20 }).toBe(true);
    writeFileSync(`/proc/${JSON.parse(await ok(["state", name])).pid}/root/dev/go`, "");
    return { ended };
  }

  test("OOM kills are told at once, before the next interval", async () => {
    const name = await running(`${GATE}; tail /dev/zero; exec sleep 1000`);
    const stream = await listening(name);
    await expect.poll(async () => memoryKills(name)).toBeGreaterThan(0);
    await ok(["kill", name, "KILL"]);
    const { status, stdout } = await stream.ended;
    expect(status).toBe(0);
    expectOom(stdout, name);
  });

  test("the kill that ends the container is told", async () => {
    const name = await running(`${GATE}; exec tail /dev/zero`);
    const { status, stdout } = await (await listening(name)).ended;
    expect(status).toBe(0);
    expectOom(stdout, name);
    await until(name, "stopped");
  });

  async function memoryKills(name: string): Promise<number> {
    const { pid } = JSON.parse(await ok(["state", name]));
    const path = new RegExp(isUnified ? "^0::(.*)$" : "^\\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$", "m").exec(
      readFileSync(`/proc/${pid}/cgroup`, "utf8"),
    )?.[1];
    const file = isUnified ? `/sys/fs/cgroup${path}/memory.events` : `/sys/fs/cgroup/memory${path}/memory.oom_control`;
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync(file, "utf8"))?.[1]);
  }

  test("what cannot be", async () => {
    const name = await running("exec sleep 1000");
    for (const [interval, message] of [
      ["0", "duration interval must be greater than 0"],
      ["-1s", "duration interval must be greater than 0"],
      ["soon", 'invalid value "soon" for flag -interval'],
    ] as const) {
      expect(await runtime(["events", "--interval", interval, name])).toMatchObject({
        status: 1,
        stdout: "",
        stderr: expect.stringContaining(message),
      });
    }
    await ok(["kill", name, "KILL"]);
    await until(name, "stopped");
    for (const args of [["--stats"], []]) {
      expect((await runtime(["events", ...args, name])).stderr).toContain(`container with id ${name} is not running`);
    }
    expect((await runtime(["events", "--stats", "nobody"])).stderr).toContain("does not exist");
  });
});
