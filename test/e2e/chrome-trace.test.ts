/** --trace FILE: a valid trace of every verb, with each operation once; nothing of it gets into the container. */
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasControllers, isUnified } from "../support/cgroups.ts";
import { endOf, overlaps, readTrace, spans, type TraceEvent, type TraceFile } from "../support/chrome-trace.ts";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, isSwitchedOff, shell, useHarness } from "../support/harness.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT_ID = "00f067aa0ba902b7";

describe.skipIf(!isRoot || !isRunt)("traces (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime, until } = useHarness();
  let count = 0;
  const newFile = () => join(directory, `trace-${++count}.json`);

  /** Global flags stand before the verb. */
  async function traced(args: readonly string[], env: Record<string, string> = {}): Promise<TraceFile> {
    const file = newFile();
    await ok(["--trace", file, ...args], { env });
    const trace = readTrace(file);
    expect(overlaps(trace)).toEqual([]);
    return trace;
  }

  const prepared = (change: (config: Config) => void = () => {}, sample = "limited") =>
    bundle((config) => {
      shell(config, "exit 0");
      change(config);
    }, sample);
  const staying = () => prepared((config) => shell(config, "sleep 60"));

  const rootOf = (trace: TraceFile): TraceEvent => spans(trace, "verb")[0]!;
  const operations = ({ events }: TraceFile) => events.filter(({ cat }) => cat === "operation");
  const indexes = (events: readonly TraceEvent[]) => events.map(({ args }) => args["index"] as number).sort((a, b) => a - b);
  const planOf = async (path: string, ...flags: string[]): Promise<{ ops: { op: string; actor: string }[] }> =>
    JSON.parse(await ok(["plan", "-f", "json", ...flags, "-b", path, "c"]));

  test("run has its phases, every operation of the plan once, and the monitor", async () => {
    const path = prepared();
    const { ops } = await planOf(path, "--run");
    const trace = await traced(["run", "-b", path, id()]);
    expect(indexes(operations(trace))).toEqual(ops.map((_, index) => index));
    for (const { name, args } of operations(trace)) expect(name).toBe(ops[args["index"] as number]!.op);
    const phases = spans(trace, "phase").map(({ name }) => name);
    expect(phases).toEqual([
      "parse",
      "trace",
      "run",
      "verb",
      "config",
      "spec",
      "check",
      "derive",
      "facts",
      "compile",
      "execute",
      "monitor",
    ]);
    expect(spans(trace, "monitor").map(({ name }) => name)).toEqual(["monitor", "watch", "cleanup"]);
    expect(spans(trace, "helper").map(({ name }) => name)).toEqual(["intermediate", "init"]);
    const names = trace.events.filter(({ name }) => name === "thread_name").map(({ args }) => args["name"]);
    // With the schedule alone switched off, the head start does not fit.
    expect(names.filter((name) => name !== "early helper")).toEqual(["runtime", "intermediate", "init"]);
  });

  // Without systemd init is only cloned early on cgroup v1. Before the plan an id-mapped mount is not known to need the helper before the clone.
  test.skipIf(isUnified)("a helper of the head start that did not fit has none of the plan's operations", async () => {
    const source = join(directory, "mapped");
    mkdirSync(source);
    const ids = [{ containerID: 0, hostID: 5000, size: 65_536 }];
    const path = prepared((config) => {
      config.mounts.push({
        ...{ destination: "/mnt", type: "bind", source, options: ["bind", "idmap"] },
        ...{ uidMappings: ids, gidMappings: ids },
      });
    });
    const { ops } = await planOf(path, "--run");
    const endings = async () => {
      const trace = await traced(["run", "-b", path, id()]);
      expect(indexes(operations(trace))).toEqual(ops.map((_, index) => index));
      expect(spans(trace, "helper").map(({ name }) => name)).toEqual(["intermediate", "init"]);
      const ended = trace.events.filter(({ cat, ph }) => cat === "helper" && ph === "i");
      return ended.map(({ name, args }) => [name, args["state"]]);
    };
    // One that was ended before it had a processor has no time of birth, and is not in the trace.
    if (isSwitchedOff("head-start")) expect(await endings()).toEqual([]);
    else await expect.poll(endings).toEqual([["helper", "ended without a plan"]]);
  });

  test("the phases fill the whole, and what each thread did lies in it", async () => {
    const trace = await traced(["run", "-b", prepared(), id()]);
    const whole = rootOf(trace);
    const phases = spans(trace, "phase").filter(({ name }) => name !== "monitor");
    expect(phases[0]!.ts).toBeCloseTo(whole.ts, 2);
    for (const [index, phase] of phases.slice(1).entries()) expect(phase.ts).toBeCloseTo(endOf(phases[index]!), 2);
    for (const span of [...spans(trace, "helper"), ...spans(trace, "operation")]) {
      expect(span.ts).toBeGreaterThanOrEqual(whole.ts);
      expect(endOf(span)).toBeLessThanOrEqual(endOf(whole) + 0.01);
    }
    const threads = new Map(spans(trace, "helper").map((span) => [span.name, span]));
    for (const [name, thread] of threads) {
      const own = spans(trace, "operation").filter(({ tid }) => tid === thread.tid);
      const sum = own.reduce((total, { dur }) => total + dur, 0);
      expect(own.length, name).toBeGreaterThan(0);
      expect(sum, name).toBeLessThanOrEqual(thread.dur + 0.01 * own.length);
    }
    expect(threads.get("init")!.ts).toBeGreaterThan(threads.get("intermediate")!.ts);
    expect(spans(trace, "monitor")[0]!.ts).toBeGreaterThan(endOf(whole));
  });

  test("create leaves to start what init has not come to", async () => {
    const path = staying();
    const { ops } = await planOf(path);
    const name = id();
    const trace = await traced(["create", "-b", path, name]);
    expect(indexes(operations(trace))).toEqual(ops.map((_, index) => index));
    // The runtime does not see its last message arrive.
    const sent = ops.findLastIndex(({ op, actor }) => op === "sync.send" && actor === "runtime");
    expect(sent).toBeGreaterThan(0);
    const left = operations(trace).filter(({ ph }) => ph === "i");
    for (const { args } of left) expect(args).toMatchObject({ state: "not reached" });
    expect(indexes(left).filter((index) => index < sent)).toEqual([]);
    expect(left.map((event) => event.name)).toContain("process.exec");
    expect(spans(await traced(["start", name]), "phase").map((span) => span.name)).toContain("release");
  });

  test("exec has its operations, too", async () => {
    const name = id();
    await ok(["run", "-d", "-b", staying(), name]);
    const trace = await traced(["exec", name, "/bin/sh", "-c", "exit 0"]);
    expect(operations(trace).map((event) => event.name)).toEqual(
      expect.arrayContaining(["helper.spawn", "namespace.enter", "process.clone", "process.exec", "sync.end"]),
    );
    expect(new Set(indexes(operations(trace))).size).toBe(operations(trace).length);
    expect(spans(trace, "helper").map((span) => span.name)).toEqual(["intermediate", "init"]);
    expect(spans(trace, "monitor")).toHaveLength(3);
  });

  test.skipIf(!hasControllers)("every other verb", async () => {
    const name = id();
    await ok(["create", "-b", staying(), name]);
    const verbs = [["state", name], ["list"], ["start", name], ["ps", name], ["pause", name], ["resume", name]];
    const more = [
      ["update", "--pids-limit", "50", name],
      ["events", "--stats", name],
      ["features"],
      ["check"],
      ["inspect", name],
      ["gc", "--dry-run"],
    ];
    for (const args of [...verbs, ...more]) {
      const trace = await traced(args);
      expect(rootOf(trace)).toMatchObject({ name: `runt ${args[0]}`, args: { status: 0, heap: expect.any(Number) } });
      expect(spans(trace, "phase").map((span) => span.name)).toEqual(expect.arrayContaining(["parse", args[0]]));
      expect(spans(trace, "call").length, args[0]).toBeGreaterThan(0);
    }
    await traced(["kill", name, "KILL"]);
    await until(name, "stopped");
    expect(spans(await traced(["delete", name]), "phase").map((span) => span.name)).toContain("destroy");
  });

  test("a verb that fails leaves what it came to", async () => {
    const file = newFile();
    const path = prepared((config) => {
      config.process.args = ["/not/there"];
    });
    const name = id();
    expect((await runtime(["--trace", file, "create", "-b", path, name])).status).toBe(1);
    const trace = readTrace(file);
    expect(overlaps(trace)).toEqual([]);
    expect(rootOf(trace).args).toMatchObject({ status: 1 });
    expect(spans(trace, "phase").map((span) => span.name)).toEqual(expect.arrayContaining(["execute", "undo", "destroy"]));
    const reached = spans(trace, "operation").map((span) => span.name);
    expect(reached).toContain("process.program");
    expect(reached).not.toContain("state.commit");
    expect(
      operations(trace)
        .filter(({ ph }) => ph === "i")
        .map((event) => event.name),
    ).toContain("process.exec");

    expect((await runtime(["--trace", file, "state", "nobody"])).status).toBe(1);
    expect(rootOf(readTrace(file)).args).toMatchObject({ status: 1 });
    expect((await runtime(["--trace", file, "create", "--nonsense"])).status).toBe(1);
  });

  test("TRACEPARENT says what it is a part of; a bad one is ignored", async () => {
    const trace = await traced(["list"], { TRACEPARENT: `00-${TRACE_ID}-${PARENT_ID}-01` });
    expect(trace.about).toMatchObject({ traceId: TRACE_ID, parentId: PARENT_ID, traceFlags: 1 });
    expect(rootOf(trace).args).toMatchObject({ traceId: TRACE_ID, parentId: PARENT_ID });
    const without = await traced(["list"], { TRACEPARENT: `00-${"0".repeat(32)}-${PARENT_ID}-01` });
    expect(without.about).not.toHaveProperty("traceId");
    expect(rootOf(without).args).not.toHaveProperty("traceId");
  });

  test("a file that cannot be written is told before anything is done", async () => {
    const log = join(directory, "log");
    const name = id();
    for (const file of [join(directory, "no/such/place"), directory]) {
      const result = await runtime(["--log", log, "--log-format", "json", "--trace", file, "create", "-b", prepared(), name]);
      expect(result.status).toBe(1);
      expect(result.stderr).toContain(`--trace ${file}: `);
      expect(JSON.parse(readFileSync(log, "utf8").trim().split("\n").at(-1)!)).toMatchObject({ code: "trace" });
    }
    expect(existsSync(join(root, name))).toBe(false);
  });

  test("the container's program has neither the file nor the memory", async () => {
    const shown = join(directory, "shown");
    mkdirSync(shown);
    const path = prepared((config) => {
      shell(
        config,
        "ls -l /proc/self/fd /proc/1/fd > /shown/fds; cat /proc/self/maps /proc/1/maps > /shown/maps; cat /proc/self/environ > /shown/environment",
      );
      config.mounts.push({ destination: "/shown", type: "bind", source: shown, options: ["bind", "rw"] });
    });
    const trace = await traced(["run", "-b", path, id()], { TRACEPARENT: `00-${TRACE_ID}-${PARENT_ID}-01` });
    expect(operations(trace).length).toBeGreaterThan(0);
    const of = (name: string) => readFileSync(join(shown, name), "utf8");
    expect(of("fds")).toMatch(/\/proc\/1\/fd/);
    expect(of("fds")).not.toMatch(/memfd|runt-trace|trace-\d/);
    expect(of("maps")).toContain("busybox");
    expect(of("maps")).not.toMatch(/memfd|runt-trace/);
    expect(of("environment")).not.toContain(TRACE_ID);
  });

  test("init that waits has no descriptor of it", async () => {
    const name = id();
    await traced(["create", "-b", staying(), name]);
    const { pid } = JSON.parse(await ok(["state", name]));
    const links = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    expect(links.filter((link) => /runt-trace|trace-\d/.test(link))).toEqual([]);
  });

  test("a filter that kills whoever asks for the time lets it through", async () => {
    const path = prepared((config) => {
      config.linux.seccomp = {
        defaultAction: "SCMP_ACT_ALLOW",
        syscalls: [{ names: ["clock_gettime"], action: "SCMP_ACT_KILL_PROCESS" }],
      };
    });
    const trace = await traced(["run", "-b", path, id()]);
    expect(spans(trace, "operation").map((span) => span.name)).toEqual(expect.arrayContaining(["seccomp.load", "process.exec"]));
  });

  test.skipIf(!existsSync("/proc/self/timens_offsets"))("a time namespace does not put init elsewhere", async () => {
    const path = prepared((config) => {
      config.linux.namespaces.push({ type: "time" });
      (config.linux as { timeOffsets?: object }).timeOffsets = { monotonic: { secs: 100_000, nanosecs: 5 } };
    });
    const trace = await traced(["run", "-b", path, id()]);
    const whole = rootOf(trace);
    for (const span of spans(trace, "operation")) {
      expect(span.ts, span.name).toBeGreaterThanOrEqual(whole.ts - 50);
      expect(endOf(span), span.name).toBeLessThanOrEqual(endOf(whole) + 50);
    }
  });

  test("what was in the file is gone, and a new one is its owner's alone", async () => {
    const [old, file] = [newFile(), newFile()];
    writeFileSync(old, "x".repeat(1_000_000));
    await ok(["--trace", old, "list"]);
    expect(rootOf(readTrace(old)).name).toBe("runt list");
    await ok(["--trace", file, "list"]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});
