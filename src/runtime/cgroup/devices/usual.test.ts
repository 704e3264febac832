import { expect, test } from "vitest";
import type { DeviceRule } from "../../config/index.ts";
import { allowList } from "./emulator.ts";
import { encodeRules } from "./rule.ts";
import { rulesOf, USUAL_RULES } from "./usual.ts";

const rule = (allow: boolean, type: "a" | "c"): DeviceRule => ({ allow, type, major: -1, minor: -1, access: "rwm", from: "" });

test.each([
  ["no rules", []],
  ["deny all", [rule(false, "a")]],
  ["all allowed, and denied again", [rule(true, "a"), rule(false, "a")]],
])("%s: the text that was made beforehand", (_, devices) => {
  expect(rulesOf({ devices })).toBe(USUAL_RULES);
  expect(USUAL_RULES).toEqual(encodeRules(allowList({ devices })));
});

test.each([
  ["only the listed ones", { devices: [], onlyListedDevices: true }],
  ["one more", { devices: [rule(true, "c")] }],
])("%s: a text of its own", (_, resources) => expect(rulesOf(resources)).toEqual(encodeRules(allowList(resources))));
