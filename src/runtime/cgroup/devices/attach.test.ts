import { expect, test } from "vitest";
import type { DeviceRule } from "../../config/index.ts";
import { programOf } from "./attach.ts";
import { allowList, rulesOf } from "./emulator.ts";
import { deviceProgram } from "./program.ts";

const rule = (allow: boolean, type: "a" | "c", major: number, minor: number): DeviceRule => ({
  allow,
  type,
  major,
  minor,
  access: "rwm",
  from: "",
});
const DENY_ALL = rule(false, "a", -1, -1);

test("usual rules: the program that was made beforehand, which is that of the same text", () => {
  const rules = rulesOf({ devices: [DENY_ALL] });
  expect(programOf(rules)).toBe(programOf(rulesOf({ devices: [] })));
  expect(programOf([...rules])).toEqual(programOf(rules));
});

test("other rules: another program", () => {
  const resources = { devices: [DENY_ALL, rule(true, "c", 10, 229)] };
  expect(programOf(rulesOf(resources))).toEqual(deviceProgram(allowList(resources)));
});

test("everything is allowed: no program", () => expect(programOf(rulesOf({ devices: [rule(true, "a", -1, -1)] }))).toBeUndefined());
