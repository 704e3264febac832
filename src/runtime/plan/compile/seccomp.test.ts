import { expect, it } from "vitest";
import type { SeccompProfile } from "../../config/index.ts";
import { profileText } from "./seccomp.ts";

const condition = { index: 0, operator: 4, value: 1n, valueTwo: 2n };
const BASE: SeccompProfile = {
  defaultAction: 0x5_0001,
  architectures: [0xc000_003e],
  rules: [{ action: 0x7fff_0000, names: ["read", "write"], conditions: [condition] }],
  idle: ["mkdir"],
  enosysForNewer: true,
};
const withRule = (change: object): SeccompProfile => ({ ...BASE, rules: [{ ...BASE.rules[0]!, ...change }] });

it("is lines of words", () => {
  expect(profileText(BASE)).toBe("default 327681\narch 3221225534\nknown mkdir\nrule 2147418112 0:4:1:2 read write\n");
});

it("asks for a tree when there are many rules", () => {
  const many = Array.from({ length: 33 }, (_, index) => `call${index}`);
  expect(profileText(withRule({ names: many }))).toContain("\noptimize 2\n");
  expect(profileText(withRule({ names: many.slice(1) }))).not.toContain("optimize");
});

it("differs wherever the profile does", () => {
  const variants: SeccompProfile[] = [
    BASE,
    { ...BASE, defaultAction: 0x5_0002 },
    { ...BASE, architectures: [] },
    { ...BASE, architectures: [0xc000_003e, 0x4000_0003] },
    { ...BASE, idle: [] },
    { ...BASE, idle: ["mkdir", "rmdir"] },
    withRule({ action: 0x5_0005 }),
    withRule({ action: 0x5_001c }),
    withRule({ names: ["read"] }),
    withRule({ names: ["readwrite"] }),
    withRule({ conditions: [] }),
    withRule({ conditions: [{ ...condition, index: 1 }] }),
    withRule({ conditions: [{ ...condition, operator: 5 }] }),
    withRule({ conditions: [{ ...condition, value: 12n }] }),
    withRule({ conditions: [{ ...condition, valueTwo: 0n }] }),
    withRule({ conditions: [condition, { ...condition, index: 1 }] }),
    { ...BASE, rules: [...BASE.rules, ...BASE.rules] },
  ];
  expect(new Set(variants.map(profileText)).size).toBe(variants.length);
});
