import { expect, test } from "vitest";
import type { DeviceRule } from "../../config/index.ts";
import { allowList, rulesOf, USUAL_RULES } from "./emulator.ts";
import { decodeRules, encodeRules, ruleText } from "./rule.ts";

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

/** "allow c 1:3 rwm" */
function rules(...texts: readonly string[]): DeviceRule[] {
  const number = (text = "") => (text === "*" ? -1 : Number(text));
  return texts.map((text) => {
    const [verdict, type, numbers = "", access = ""] = text.split(" ");
    const [major, minor] = numbers.split(":");
    return { allow: verdict === "allow", type: type as "a", major: number(major), minor: number(minor), access, from: "" };
  });
}

const played = (...texts: readonly string[]) => allowList({ devices: rules(...texts) });

const DEFAULTS = [
  "b *:* m",
  "c *:* m",
  "c 1:3 rwm",
  "c 1:5 rwm",
  "c 1:7 rwm",
  "c 1:8 rwm",
  "c 1:9 rwm",
  "c 5:0 rwm",
  "c 5:2 rwm",
  "c 10:200 rwm",
  "c 136:* rwm",
];

test.each([
  ["no rules", [], DEFAULTS],
  ["deny all", ["deny a *:* rwm"], DEFAULTS],
  [
    "rules of the defaults once more",
    ["deny a *:* rwm", "allow c 1:3 rw", "allow c 5:2 rwm"],
    ["c 1:3 rwm", "c 5:2 rwm", ...DEFAULTS.filter((text) => text !== "c 1:3 rwm" && text !== "c 5:2 rwm")],
  ],
  ["the order stays", ["allow c 10:229 rwm", "allow b 8:20 rw"], ["c 10:229 rwm", "b 8:20 rw", ...DEFAULTS]],
  ["letters of one device are merged", ["allow b 8:0 r", "allow b 8:0 w"], ["b 8:0 rw", ...DEFAULTS]],
  ["a rule is taken back", ["allow b 8:0 rw", "deny b 8:0 w"], ["b 8:0 r", ...DEFAULTS]],
  ["a wider rule takes all of it back", ["allow b 8:0 rw", "allow b 8:1 r", "deny b 8:* rwm"], DEFAULTS],
  ["type a with less than all access takes back that", ["allow c 10:5 rwm", "deny a *:* wm"], ["c 10:5 r", ...DEFAULTS]],
  ["type a with numbers is both types", ["allow a 7:1 r"], ["b 7:1 r", "c 7:1 r", ...DEFAULTS]],
])("%s", (_, given, expected) => {
  const list = played(...given);
  expect(list.defaultAllow).toBe(false);
  expect(list.exceptions.map(ruleText)).toEqual(expected);
});

test("a privileged container needs no exceptions", () => {
  expect(played("deny a *:* rwm", "allow a *:* rwm")).toEqual({ defaultAllow: true, exceptions: [] });
});

test("allow all but one device", () => {
  expect(encodeRules(played("allow a *:* rwm", "deny b 8:0 rwm"))).toEqual(["a:*:*:rwm:allow", "b:8:0:rw:deny"]);
});

test("a hole in a wildcard is refused", () => {
  expect(() => played("allow c 4:* rwm", "deny c 4:1 rwm")).toThrow(
    "device rules cannot deny c 4:1 out of the wildcard c 4:* given before",
  );
});

test("the encoded form can be read back", () => {
  const list = played("allow b 8:* r");
  expect(decodeRules(encodeRules(list))).toEqual(list);
});

test("without the default rules only the listed ones are left", () => {
  const exceptions = (...texts: readonly string[]) =>
    allowList({ devices: rules(...texts), onlyListedDevices: true }).exceptions.map(ruleText);
  expect(exceptions()).toEqual([]);
  expect(exceptions("allow c 1:3 rwm", "allow c 5:* rw", "deny c 1:3 w")).toEqual(["c 1:3 rm", "c 5:* rw"]);
});
