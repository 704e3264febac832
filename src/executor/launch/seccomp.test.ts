import { expect, test } from "vitest";
import { ALLOWED, defaultSeccomp, NEVER, PRIVILEGED, plainSeccomp } from "./seccomp.ts";

interface Rule {
  readonly names: readonly string[];
  readonly action: string;
  readonly args?: readonly unknown[];
}
const rulesOf = (capabilities: readonly string[]) =>
  (defaultSeccomp(capabilities, "x64") as unknown as { syscalls: readonly Rule[] }).syscalls;
const actionsOf = (capabilities: readonly string[], name: string) =>
  rulesOf(capabilities)
    .filter(({ names }) => names.includes(name))
    .map(({ action, args }) => `${action}${args === undefined ? "" : " by argument"}`);

/** moby/profiles, seccomp/default.json has rules of these forms. */
test("of a profile of Docker the rules count whose conditions hold", () => {
  const rule = (name: string, conditions: object) => ({ names: [name], action: "SCMP_ACT_ALLOW", comment: "x", ...conditions });
  const profile = {
    defaultAction: "SCMP_ACT_ERRNO",
    archMap: [
      { architecture: "SCMP_ARCH_X86_64", subArchitectures: ["SCMP_ARCH_X86"] },
      { architecture: "SCMP_ARCH_AARCH64", subArchitectures: [] },
    ],
    syscalls: [
      rule("always", {}),
      { name: "old", action: "SCMP_ACT_ALLOW", args: [] },
      rule("with-cap", { includes: { caps: ["CAP_SYS_ADMIN"] } }),
      rule("without-cap", { excludes: { caps: ["CAP_SYS_ADMIN"] } }),
      rule("arm", { includes: { arches: ["arm", "arm64"] } }),
      rule("amd", { includes: { arches: ["amd64"] } }),
      rule("new", { includes: { minKernel: "4.8" } }),
      rule("future", { includes: { minKernel: "99.1" } }),
    ],
  };
  const plain = (capabilities: string[], architecture = "x64") =>
    plainSeccomp(profile, { capabilities, architecture, kernel: "6.1.0-18-amd64" }) as { syscalls: { names: string[] }[] };
  const names = (...args: Parameters<typeof plain>) => plain(...args).syscalls.flatMap((one) => one.names);
  expect(names([])).toEqual(["always", "old", "without-cap", "amd", "new"]);
  expect(names(["CAP_SYS_ADMIN"], "arm64")).toEqual(["always", "old", "with-cap", "arm", "new"]);
  expect(plain([])).toMatchObject({ defaultAction: "SCMP_ACT_ERRNO", architectures: ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"] });
  expect(plain([]).syscalls[0]).toEqual({ names: ["always"], action: "SCMP_ACT_ALLOW" });
});

test("no call is in two lists", () => {
  const privileged = new Set(Object.values(PRIVILEGED).flat());
  expect(ALLOWED.filter((name) => privileged.has(name) || NEVER.includes(name))).toEqual([]);
  expect(new Set(ALLOWED).size).toBe(ALLOWED.length);
});

test("what a capability is for is allowed with it, and refused without", () => {
  for (const [capability, names] of Object.entries(PRIVILEGED)) {
    for (const name of names) {
      expect([name, actionsOf([], name)]).toEqual([name, ["SCMP_ACT_ERRNO"]]);
      expect([name, actionsOf([capability], name)]).toEqual([name, ["SCMP_ACT_ALLOW"]]);
    }
  }
  for (const name of NEVER) expect(actionsOf(["CAP_SYS_ADMIN"], name)).toEqual(["SCMP_ACT_ERRNO"]);
});

test("new namespaces by clone need CAP_SYS_ADMIN; clone3 hides its flags", () => {
  expect([actionsOf([], "clone"), actionsOf([], "clone3")]).toEqual([["SCMP_ACT_ALLOW by argument"], []]);
  const administrator = ["CAP_SYS_ADMIN"];
  expect([actionsOf(administrator, "clone"), actionsOf(administrator, "clone3")]).toEqual([["SCMP_ACT_ALLOW"], ["SCMP_ACT_ALLOW"]]);
});

test("an architecture that is not known has its own calls only", () => {
  expect(defaultSeccomp([], "x64")["architectures"]).toContain("SCMP_ARCH_X86_64");
  expect(defaultSeccomp([], "riscv64")).not.toHaveProperty("architectures");
});
