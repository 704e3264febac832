import { describe, expect, it } from "vitest";
import { MEMORY_POLICY_MODES } from "../../../shared/linux/index.ts";
import type { SpecLinux } from "../../spec/index.ts";
import { findProblems } from "../checks.ts";

type Policy = NonNullable<SpecLinux["memoryPolicy"]>;
const problems = (memoryPolicy: Policy) =>
  findProblems({ ociVersion: "1.3.0", root: { path: "r" }, linux: { memoryPolicy } }).map(({ code, severity, pointer }) => [
    code,
    severity,
    pointer,
  ]);

describe("linux.memoryPolicy", () => {
  const WITHOUT = ["MPOL_DEFAULT", "MPOL_LOCAL"];
  it.each(Object.keys(MEMORY_POLICY_MODES))("%s, with and without nodes", (mode) => {
    const nodes = ["memory-policy-nodes", "error", "/linux/memoryPolicy/nodes"];
    expect(problems({ mode, nodes: "0" })).toEqual(WITHOUT.includes(mode) ? [nodes] : []);
    expect(problems({ mode })).toEqual([...WITHOUT, "MPOL_PREFERRED"].includes(mode) ? [] : [nodes]);
    expect(problems({ mode, nodes: "", flags: [] })).toEqual(problems({ mode }));
  });

  it.each<Policy>([
    { mode: "MPOL_BIND", nodes: "0", flags: ["MPOL_F_NUMA_BALANCING", "MPOL_F_STATIC_NODES"] },
    { mode: "MPOL_PREFERRED_MANY", nodes: "0", flags: ["MPOL_F_NUMA_BALANCING"] },
    { mode: "MPOL_INTERLEAVE", nodes: "0-1", flags: ["MPOL_F_RELATIVE_NODES"] },
    { mode: "MPOL_PREFERRED", nodes: "0", flags: ["MPOL_F_STATIC_NODES"] },
  ])("%j", (policy) => {
    expect(problems(policy)).toEqual([]);
  });

  it.each<[Policy, string]>([
    [{}, "invalid memory policy mode: required but missing"],
    [{ mode: "BIND", nodes: "0" }, 'invalid memory policy mode "BIND"'],
    [{ mode: "MPOL_DEFAULT", nodes: "0-3,7" }, "invalid memory policy nodes: MPOL_DEFAULT mode requires 0 nodes but got 5"],
    [{ mode: "MPOL_LOCAL", nodes: "x" }, 'invalid memory policy nodes: MPOL_LOCAL mode requires 0 nodes but got "x"'],
    [{ mode: "MPOL_BIND", nodes: "0", flags: ["MPOL_F_X"] }, 'invalid memory policy flag "MPOL_F_X"'],
    [{ mode: "MPOL_LOCAL", flags: ["MPOL_F_STATIC_NODES"] }, "invalid memory policy flag: MPOL_F_STATIC_NODES has no effect without nodes"],
  ])("%j: %s", (memoryPolicy, words) => {
    const found = findProblems({ ociVersion: "1.3.0", root: { path: "r" }, linux: { memoryPolicy } });
    expect(found.map(({ message }) => message)).toEqual([words]);
  });

  it.each<[Policy, string, string]>([
    [{}, "memory-policy-mode", "mode"],
    [{ mode: "BIND", nodes: "0" }, "memory-policy-mode", "mode"],
    [{ mode: "MPOL_BIND", nodes: "0", flags: ["MPOL_F_STATIC_NODES", "MPOL_F_X"] }, "memory-policy-flag", "flags/1"],
    [{ mode: "MPOL_INTERLEAVE", nodes: "0", flags: ["MPOL_F_NUMA_BALANCING"] }, "memory-policy-flag", "flags/0"],
    [{ mode: "MPOL_BIND", nodes: "0", flags: ["MPOL_F_STATIC_NODES", "MPOL_F_RELATIVE_NODES"] }, "memory-policy-flag", "flags/1"],
    [{ mode: "MPOL_BIND", nodes: "0", flags: ["MPOL_F_RELATIVE_NODES", "MPOL_F_STATIC_NODES"] }, "memory-policy-flag", "flags/1"],
    [{ mode: "MPOL_DEFAULT", flags: ["MPOL_F_STATIC_NODES"] }, "memory-policy-flag", "flags/0"],
    [{ mode: "MPOL_LOCAL", flags: ["MPOL_F_RELATIVE_NODES"] }, "memory-policy-flag", "flags/0"],
    [{ mode: "MPOL_PREFERRED", flags: ["MPOL_F_STATIC_NODES"] }, "memory-policy-flag", "flags/0"],
  ])("%j is refused", (policy, code, field) => {
    expect(problems(policy)).toEqual([[code, "error", `/linux/memoryPolicy/${field}`]]);
  });
});
