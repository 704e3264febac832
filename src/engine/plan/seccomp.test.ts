import { expect, test } from "vitest";
import { ALLOWED, defaultSeccomp, NEVER, PRIVILEGED } from "./seccomp.ts";

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
