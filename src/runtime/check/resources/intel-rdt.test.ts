import { describe, expect, it } from "vitest";
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
