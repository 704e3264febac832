import { describe, expect, it } from "vitest";
import { MEMORY_POLICY_MODES } from "../../../shared/linux/index.ts";
import type { SpecLinux } from "../../spec/index.ts";
import { findProblems } from "../checks.ts";

type IntelRdt = NonNullable<SpecLinux["intelRdt"]>;
const problems = (intelRdt: IntelRdt) =>
  findProblems({ ociVersion: "1.3.0", root: { path: "r" }, linux: { intelRdt } }).map(({ code, severity, pointer }) => [
    code,
    severity,
    pointer,
  ]);

describe("linux.intelRdt", () => {
  it.each<IntelRdt>([
    {},
    { closID: "" },
    { closID: "/" },
    { closID: "guaranteed_group", schemata: ["L3:0=7f0;1=1f", "L2:0=f;1=f", "MB:0=20;1=70"] },
    { l3CacheSchema: "L3:0=ff", memBwSchema: "MB:0=50", enableMonitoring: true },
  ])("%j", (intelRdt) => {
    expect(problems(intelRdt)).toEqual([]);
  });

  it.each<[IntelRdt, string, string]>([
    [{ closID: "." }, "intel-rdt-group", "closID"],
    [{ closID: ".." }, "intel-rdt-group", "closID"],
    [{ closID: "a/b" }, "intel-rdt-group", "closID"],
    [{ closID: "/a" }, "intel-rdt-group", "closID"],
    [{ closID: "info" }, "intel-rdt-group", "closID"],
    [{ closID: "a\nb" }, "intel-rdt-group", "closID"],
    [{ memBwSchema: "0=20" }, "intel-rdt-bandwidth", "memBwSchema"],
    [{ memBwSchema: "MB:0=20\nL3:0=f" }, "intel-rdt-line", "memBwSchema"],
    [{ l3CacheSchema: "L3:0=f\n" }, "intel-rdt-line", "l3CacheSchema"],
    [{ schemata: ["L3:0=f", "MB:0=1\n"] }, "intel-rdt-line", "schemata/1"],
  ])("%j is refused", (intelRdt, code, field) => {
    expect(problems(intelRdt)).toEqual([[code, "error", `/linux/intelRdt/${field}`]]);
  });

  it("warns about a cache schema that is none", () => {
    expect(problems({ l3CacheSchema: "L3CODE:0=f" })).toEqual([["intel-rdt-cache", "warning", "/linux/intelRdt/l3CacheSchema"]]);
  });
});

type Policy = NonNullable<SpecLinux["memoryPolicy"]>;
const problemsOfMemoryPolicy = (memoryPolicy: Policy) =>
  findProblems({ ociVersion: "1.3.0", root: { path: "r" }, linux: { memoryPolicy } }).map(({ code, severity, pointer }) => [
    code,
    severity,
    pointer,
  ]);

describe("linux.memoryPolicy", () => {
  const WITHOUT = ["MPOL_DEFAULT", "MPOL_LOCAL"];
  it.each(Object.keys(MEMORY_POLICY_MODES))("%s, with and without nodes", (mode) => {
    const nodes = ["memory-policy-nodes", "error", "/linux/memoryPolicy/nodes"];
    expect(problemsOfMemoryPolicy({ mode, nodes: "0" })).toEqual(WITHOUT.includes(mode) ? [nodes] : []);
    expect(problemsOfMemoryPolicy({ mode })).toEqual([...WITHOUT, "MPOL_PREFERRED"].includes(mode) ? [] : [nodes]);
    expect(problemsOfMemoryPolicy({ mode, nodes: "", flags: [] })).toEqual(problemsOfMemoryPolicy({ mode }));
  });

  it.each<Policy>([
    { mode: "MPOL_BIND", nodes: "0", flags: ["MPOL_F_NUMA_BALANCING", "MPOL_F_STATIC_NODES"] },
    { mode: "MPOL_PREFERRED_MANY", nodes: "0", flags: ["MPOL_F_NUMA_BALANCING"] },
    { mode: "MPOL_INTERLEAVE", nodes: "0-1", flags: ["MPOL_F_RELATIVE_NODES"] },
    { mode: "MPOL_PREFERRED", nodes: "0", flags: ["MPOL_F_STATIC_NODES"] },
  ])("%j", (policy) => {
    expect(problemsOfMemoryPolicy(policy)).toEqual([]);
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
    expect(problemsOfMemoryPolicy(policy)).toEqual([[code, "error", `/linux/memoryPolicy/${field}`]]);
  });
});
