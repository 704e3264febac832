import { describe, expect, it } from "vitest";
import { deriveIoPriority, deriveMemoryPolicy, derivePersonality, deriveScheduler } from "./policies.ts";

describe("policies", () => {
  it("turn names into numbers, and fill in nothing but zeros", () => {
    expect(deriveScheduler({ policy: "SCHED_IDLE" })).toEqual({
      policy: 5,
      flags: 0,
      nice: 0,
      priority: 0,
      runtime: 0n,
      deadline: 0n,
      period: 0n,
    });
    const flags = ["SCHED_FLAG_RESET_ON_FORK", "SCHED_FLAG_UTIL_CLAMP_MAX", "SCHED_FLAG_RESET_ON_FORK"];
    expect(deriveScheduler({ policy: "SCHED_DEADLINE", flags, runtime: 1024, deadline: 2n ** 63n - 1n, period: null })).toMatchObject({
      policy: 6,
      flags: 0x41,
      runtime: 1024n,
      deadline: 9223372036854775807n,
      period: 0n,
    });
    expect(deriveIoPriority({ class: "IOPRIO_CLASS_IDLE", priority: 7n })).toEqual({ class: 3, priority: 7 });
    expect(derivePersonality({ domain: "LINUX32" })).toBe(8);
  });

  it("read the nodes of a memory policy", () => {
    const flags = ["MPOL_F_STATIC_NODES", "MPOL_F_NUMA_BALANCING"];
    expect(deriveMemoryPolicy({ mode: "MPOL_WEIGHTED_INTERLEAVE", nodes: "2-3,0", flags })).toEqual({
      mode: 6,
      flags: 0xa000,
      nodes: [0, 2, 3],
    });
    expect(deriveMemoryPolicy({ mode: "MPOL_LOCAL" })).toEqual({ mode: 4, flags: 0, nodes: [] });
    expect(() => deriveMemoryPolicy({ mode: "MPOL_BIND", nodes: "3-1" })).toThrow(
      expect.objectContaining({
        message: 'invalid memory policy nodes: "3-1" is not a list of memory nodes',
        details: { pointer: "/linux/memoryPolicy/nodes", finding: "list-syntax" },
      }),
    );
  });
});
