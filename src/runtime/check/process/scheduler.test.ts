import { describe, expect, it } from "vitest";
import type { SpecProcess } from "../../spec/index.ts";
import { checkSpec, findProblems } from "../checks.ts";

const problems = (change: Partial<SpecProcess>) =>
  findProblems({ ociVersion: "1.3.0", root: { path: "r" }, process: { cwd: "/", args: ["sh"], ...change } }).map(
    ({ code, severity, pointer }) => [code, severity, pointer],
  );

describe("process.scheduler", () => {
  const TIMES = { runtime: 1_000_000, deadline: 10_000_000, period: 10_000_000 };
  it.each<[string, NonNullable<SpecProcess["scheduler"]>]>([
    ["other", { policy: "SCHED_OTHER", nice: -20 }],
    ["batch", { policy: "SCHED_BATCH", nice: 19, flags: ["SCHED_FLAG_RESET_ON_FORK"] }],
    ["idle", { policy: "SCHED_IDLE", nice: null, flags: null }],
    ["iso, which the kernel refuses", { policy: "SCHED_ISO" }],
    ["fifo", { policy: "SCHED_FIFO", priority: 1 }],
    ["rr", { policy: "SCHED_RR", priority: 99 }],
    ["a real-time policy that keeps its priority", { policy: "SCHED_RR", flags: ["SCHED_FLAG_KEEP_PARAMS"] }],
    ["a deadline", { policy: "SCHED_DEADLINE", ...TIMES, flags: ["SCHED_FLAG_RECLAIM", "SCHED_FLAG_DL_OVERRUN"] }],
    ["a deadline without a period", { policy: "SCHED_DEADLINE", ...TIMES, period: 0 }],
    ["the longest deadline", { policy: "SCHED_DEADLINE", ...TIMES, deadline: 2n ** 63n - 1n, period: 2n ** 63n - 1n }],
    ["a kept deadline", { policy: "SCHED_DEADLINE", flags: ["SCHED_FLAG_KEEP_POLICY"] }],
    ["clamps", { policy: "SCHED_OTHER", flags: ["SCHED_FLAG_UTIL_CLAMP_MIN", "SCHED_FLAG_UTIL_CLAMP_MAX"] }],
  ])("%s", (_, scheduler) => {
    expect(problems({ scheduler })).toEqual([]);
  });

  it.each<[NonNullable<SpecProcess["scheduler"]>, string, string]>([
    [{}, "scheduler-policy", "policy"],
    [{ policy: "" }, "scheduler-policy", "policy"],
    [{ policy: "SCHED_BEST" }, "scheduler-policy", "policy"],
    [{ policy: "toString" }, "scheduler-policy", "policy"],
    [{ policy: "SCHED_OTHER", nice: 20 }, "scheduler-nice", "nice"],
    [{ policy: "SCHED_BATCH", nice: -21 }, "scheduler-nice", "nice"],
    [{ policy: "SCHED_OTHER", priority: 5 }, "scheduler-priority", "priority"],
    [{ policy: "SCHED_DEADLINE", ...TIMES, priority: 1 }, "scheduler-priority", "priority"],
    [{ policy: "SCHED_FIFO" }, "scheduler-priority", "priority"],
    [{ policy: "SCHED_RR", priority: 100 }, "scheduler-priority", "priority"],
    [{ policy: "SCHED_FIFO", priority: 1, runtime: 1 }, "scheduler-deadline", "runtime"],
    [{ policy: "SCHED_OTHER", deadline: 1 }, "scheduler-deadline", "deadline"],
    [{ policy: "SCHED_IDLE", period: 18446744073709551615n }, "scheduler-deadline", "period"],
    [{ policy: "SCHED_DEADLINE" }, "scheduler-deadline", "runtime"],
    [{ policy: "SCHED_DEADLINE", ...TIMES, runtime: 1023 }, "scheduler-deadline", "runtime"],
    [{ policy: "SCHED_DEADLINE", ...TIMES, deadline: 999_999 }, "scheduler-deadline", "deadline"],
    [{ policy: "SCHED_DEADLINE", ...TIMES, period: 9_999_999 }, "scheduler-deadline", "period"],
    [{ policy: "SCHED_DEADLINE", ...TIMES, period: 2n ** 63n }, "scheduler-deadline", "period"],
    [{ policy: "SCHED_DEADLINE", ...TIMES, deadline: 2n ** 63n, period: 0 }, "scheduler-deadline", "deadline"],
    [{ policy: "SCHED_OTHER", flags: ["SCHED_FLAG_RECLAIM", "RECLAIM"] }, "scheduler-flag", "flags/1"],
  ])("%o is refused", (scheduler, code, field) => {
    expect(problems({ scheduler })).toEqual([[code, "error", `/process/scheduler/${field}`]]);
  });

  it("warns about a nice value that nothing comes of", () => {
    const expected = ["scheduler-nice-ignored", "warning", "/process/scheduler/nice"];
    expect(problems({ scheduler: { policy: "SCHED_FIFO", priority: 1, nice: 100 } })).toEqual([expected]);
  });
});

describe("process.ioPriority", () => {
  it.each(["IOPRIO_CLASS_RT", "IOPRIO_CLASS_BE", "IOPRIO_CLASS_IDLE"])("%s", (name) => {
    for (const priority of [0, 7]) expect(problems({ ioPriority: { class: name, priority } })).toEqual([]);
  });

  it.each<[NonNullable<SpecProcess["ioPriority"]>, string, string]>([
    [{ priority: 0 }, "io-priority-class", "class"],
    [{ class: "IOPRIO_CLASS_NONE", priority: 0 }, "io-priority-class", "class"],
    [{ class: "IOPRIO_CLASS_BE", priority: 8 }, "io-priority-level", "priority"],
    [{ class: "IOPRIO_CLASS_BE", priority: -1 }, "io-priority-level", "priority"],
  ])("%j is refused", (ioPriority, code, field) => {
    expect(problems({ ioPriority })).toEqual([[code, "error", `/process/ioPriority/${field}`]]);
  });

  it("takes the highest priority for none, with a warning", () => {
    const expected = ["io-priority-missing", "warning", "/process/ioPriority/priority"];
    expect(problems({ ioPriority: { class: "IOPRIO_CLASS_IDLE" } })).toEqual([expected]);
  });

  it("says what is right", () => {
    expect(() => checkSpec({ ociVersion: "1.3.0", root: { path: "r" }, process: { cwd: "/", args: ["sh"], ioPriority: {} } })).toThrow(
      expect.objectContaining({
        code: "config-invalid",
        message: "process.ioPriority.class: required but missing",
        details: {
          finding: "io-priority-class",
          pointer: "/process/ioPriority/class",
          hint: "one of IOPRIO_CLASS_RT, IOPRIO_CLASS_BE, IOPRIO_CLASS_IDLE",
        },
      }),
    );
  });
});
