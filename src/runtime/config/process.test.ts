import { describe, expect, it } from "vitest";
import { CAPABILITIES } from "../../shared/linux/index.ts";
import type { SpecProcess } from "../spec/index.ts";
import { deriveIoPriority, deriveMemoryPolicy, derivePersonality, deriveProcess, deriveScheduler } from "./process.ts";
import type { Warning } from "./warnings.ts";

function derive(change: Partial<SpecProcess>) {
  const warnings: Warning[] = [];
  const config = deriveProcess({ cwd: "/", args: ["sh"], ...change }, "/process", (code, pointer, message) =>
    warnings.push({ code, pointer, message }),
  );
  return { config, warnings };
}

describe("deriveProcess", () => {
  it("fills in the defaults", () => {
    expect(derive({}).config).toEqual({
      terminal: false,
      consoleRows: 0,
      consoleColumns: 0,
      args: ["sh"],
      env: [],
      cwd: "/",
      uid: 0,
      gid: 0,
      additionalGids: [],
      umask: 0o022,
      noNewPrivileges: false,
      rlimits: [],
    });
  });

  it("takes user, umask and oomScoreAdj, zero included", () => {
    expect(derive({ user: { uid: 1000, gid: 1001, umask: 0, additionalGids: [5] }, oomScoreAdj: 0 }).config).toMatchObject({
      uid: 1000,
      gid: 1001,
      umask: 0,
      additionalGids: [5],
      oomScoreAdj: 0,
    });
  });

  it("ignores consoleSize without a terminal", () => {
    const consoleSize = { height: 24, width: 80 };
    expect(derive({ consoleSize }).config).toMatchObject({ consoleRows: 0, consoleColumns: 0 });
    expect(derive({ consoleSize, terminal: true }).config).toMatchObject({ consoleRows: 24, consoleColumns: 80 });
  });

  it("keeps rlimits exact", () => {
    const infinity = 18446744073709551615n;
    expect(derive({ rlimits: [{ type: "RLIMIT_CORE", soft: 0, hard: infinity }] }).config.rlimits).toEqual([
      { from: "/process/rlimits/0", type: "RLIMIT_CORE", soft: 0n, hard: infinity },
    ]);
  });
});

describe("capabilities", () => {
  it("are absent when the object is", () => {
    expect(derive({}).config).not.toHaveProperty("capabilities");
    expect(derive({ capabilities: null }).config).not.toHaveProperty("capabilities");
    expect(derive({ capabilities: {} }).config.capabilities).toEqual({
      bounding: 0n,
      effective: 0n,
      permitted: 0n,
      inheritable: 0n,
      ambient: 0n,
    });
  });

  it("have the kernel's numbers", () => {
    expect(derive({ capabilities: { bounding: [...CAPABILITIES] } }).config.capabilities?.bounding).toBe((1n << 41n) - 1n);
    expect(
      derive({ capabilities: { effective: ["CAP_CHOWN", "CAP_SYS_ADMIN", "CAP_CHECKPOINT_RESTORE"] } }).config.capabilities?.effective,
    ).toBe(1n | (1n << 21n) | (1n << 40n));
  });

  it("leave out unknown names with a warning", () => {
    const { config, warnings } = derive({ capabilities: { permitted: ["CAP_KILL", "CAP_TEST"] } });
    expect(config.capabilities?.permitted).toBe(1n << 5n);
    expect(warnings).toEqual([
      {
        code: "capability-unknown",
        pointer: "/process/capabilities/permitted/1",
        message: 'capability "CAP_TEST" is not known and is left out',
      },
    ]);
  });
});

describe("env", () => {
  it("keeps the last of several entries of a name, in its place", () => {
    const { config, warnings } = derive({ env: ["A=1", "B=", "A=2", "C==x", "A=3"] });
    expect(config.env).toEqual(["B=", "C==x", "A=3"]);
    expect(warnings.map(({ pointer }) => pointer)).toEqual(["/process/env/2", "/process/env/4"]);
  });

  it.each([
    ["A", 'invalid environment variable: "A" has no "="'],
    ["=x", 'invalid environment variable: "=x" has no name'],
    ["", 'invalid environment variable: "" has no "="'],
    ["A=x\0y", 'invalid environment variable: "A" contains a NUL byte'],
  ])("refuses %j", (entry, message) => {
    expect(() => derive({ env: ["PATH=/bin", entry] })).toThrow(
      expect.objectContaining({ code: "config-invalid", message, details: { pointer: "/process/env/1", finding: "env-syntax" } }),
    );
  });
});

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
