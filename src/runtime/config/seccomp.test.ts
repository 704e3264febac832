import { describe, expect, it } from "vitest";
import type { SpecSeccomp } from "../spec/index.ts";
import { deriveSeccomp } from "./seccomp.ts";

const DEFAULT: SpecSeccomp = { defaultAction: "SCMP_ACT_ERRNO" };
const warnings: string[] = [];
const derive = (change: Partial<SpecSeccomp>) => {
  warnings.length = 0;
  const derived = deriveSeccomp({ ...DEFAULT, ...change }, (_code, _pointer, message) => void warnings.push(message));
  if (!derived) throw new Error("no filter");
  return derived;
};
const action = (name: string, errnoRet?: number) =>
  derive({ syscalls: [{ names: ["a"], action: name, ...(errnoRet !== undefined && { errnoRet }) }], listenerPath: "/l" }).seccompProfile
    .rules[0]?.action;

it.each([undefined, null, {}, { defaultAction: "" }, { defaultAction: null }])("%j asks for nothing", (seccomp) =>
  expect(deriveSeccomp(seccomp, () => {})).toBeUndefined(),
);

describe("actions", () => {
  it.each([
    ["SCMP_ACT_KILL", undefined, 0],
    ["SCMP_ACT_KILL_THREAD", undefined, 0],
    ["SCMP_ACT_KILL_PROCESS", undefined, 0x8000_0000],
    ["SCMP_ACT_TRAP", undefined, 0x3_0000],
    ["SCMP_ACT_ERRNO", 38, 0x5_0026],
    ["SCMP_ACT_ERRNO", 0, 0x5_0000],
    ["SCMP_ACT_TRACE", undefined, 0x7ff0_0001],
    ["SCMP_ACT_TRACE", 7, 0x7ff0_0007],
    ["SCMP_ACT_LOG", undefined, 0x7ffc_0000],
    ["SCMP_ACT_NOTIFY", undefined, 0x7fc0_0000],
    ["SCMP_ACT_ALLOW", undefined, 0x7fff_0000],
  ])("%s %s", (name, errnoRet, expected) => expect(action(name, errnoRet)).toBe(expected));

  it("ERRNO is EPERM by default", () => expect(derive({}).seccompProfile.defaultAction).toBe(0x5_0001));
  it("a rule that says what the default says is none", () => {
    const { rules, idle } = derive({ syscalls: [{ names: ["a", "b"], action: "SCMP_ACT_ERRNO", errnoRet: 1 }] }).seccompProfile;
    expect({ rules, idle }).toEqual({ rules: [], idle: ["a", "b"] });
  });
});

describe("flags", () => {
  const notify = [{ names: ["mkdir"], action: "SCMP_ACT_NOTIFY" }];
  const all = ["TSYNC", "LOG", "SPEC_ALLOW", "WAIT_KILLABLE_RECV"].map((name) => `SECCOMP_FILTER_FLAG_${name}`);
  it.each([
    [undefined, [], 4],
    [null, [], 4],
    [[], [], 0],
    [all, [], 1 | 2 | 4],
    [all, notify, 2 | 4 | 8 | 32],
    [undefined, notify, 4 | 8],
  ])("%j %j", (flags, syscalls, expected) => expect(derive({ flags, syscalls, listenerPath: "/l" }).seccomp.flags).toBe(expected));
});

describe("arguments", () => {
  const args = (...list: { index: number; value: number | bigint; valueTwo?: number; op: string }[]) =>
    derive({ syscalls: [{ names: ["a"], action: "SCMP_ACT_ALLOW", args: list }] }).seccompProfile.rules.map(({ conditions }) => conditions);
  it("64 bits are exact", () => {
    expect(args({ index: 0, value: 18446744073709551615n, op: "SCMP_CMP_EQ" })).toEqual([
      [{ index: 0, operator: 4, value: 18446744073709551615n, valueTwo: 0n }],
    ]);
  });
  it("of several arguments hold together, of one are alternatives", () => {
    const eq = (index: number, value: number) => ({ index, value, op: "SCMP_CMP_EQ" });
    expect(args(eq(0, 1), eq(1, 2))).toHaveLength(1);
    expect(args(eq(0, 1), eq(1, 2), eq(0, 3))).toHaveLength(3);
  });
});

it("takes the listener along only where something notifies", () => {
  const rest = { listenerPath: "/l", listenerMetadata: "m" };
  expect(derive({ ...rest, syscalls: [{ names: ["a"], action: "SCMP_ACT_NOTIFY" }] }).seccomp.listener).toEqual({
    path: "/l",
    metadata: "m",
  });
  expect(derive({ ...rest, syscalls: [{ names: ["a"], action: "SCMP_ACT_ALLOW" }] }).seccomp.listener).toBeUndefined();
});

it("names that would break the canonical text are left out, by name", () => {
  const syscalls = [{ names: ["read", "a b", "x\nrule 0 - y", "write"], action: "SCMP_ACT_ALLOW" }];
  expect(derive({ syscalls }).seccompProfile.rules[0]?.names).toEqual(["read", "write"]);
  expect(warnings).toEqual(['linux.seccomp: unknown system calls are ignored: "a b", "x\\nrule 0 - y"']);
});

describe("room for init", () => {
  const CALLS = ["sendmsg", "read", "close", "capget", "capset"];
  const allow = (names: string[]) => ({ names, action: "SCMP_ACT_ALLOW" });
  it.each<[string, Partial<SpecSeccomp>, boolean]>([
    ["listed", { syscalls: [allow(CALLS)] }, true],
    ["allowed by default", { defaultAction: "SCMP_ACT_ALLOW" }, true],
    ["one missing", { syscalls: [allow(CALLS.slice(1))] }, false],
    ["forbidden", { defaultAction: "SCMP_ACT_LOG", syscalls: [{ names: ["read"], action: "SCMP_ACT_KILL" }] }, false],
    ["two rules", { syscalls: [allow(CALLS), { names: ["read"], action: "SCMP_ACT_TRACE" }] }, false],
    [
      "by argument",
      { syscalls: [allow(CALLS.slice(1)), { ...allow(["sendmsg"]), args: [{ index: 0, value: 1, op: "SCMP_CMP_EQ" }] }] },
      false,
    ],
  ])("%s", (_name, change, expected) => expect(derive(change).seccomp.roomForInit).toBe(expected));
});

it.each([
  ["SCMP_ACT_ERRNO", null, true],
  ["SCMP_ACT_KILL_PROCESS", null, true],
  ["SCMP_ACT_ERRNO", 38, false],
  ["SCMP_ACT_ALLOW", null, false],
  ["SCMP_ACT_LOG", null, false],
  ["SCMP_ACT_TRACE", null, false],
])("ENOSYS for newer calls under %s %s: %s", (defaultAction, defaultErrnoRet, expected) =>
  expect(derive({ defaultAction, defaultErrnoRet }).seccompProfile.enosysForNewer).toBe(expected),
);
