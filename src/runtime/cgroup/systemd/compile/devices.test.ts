import { expect, test } from "vitest";
import { deviceProperties } from "./devices.ts";
import { printProperty } from "./property.ts";

const LIST = {
  defaultAllow: false,
  exceptions: [
    { type: "b", major: -1, minor: -1, access: "m" },
    { type: "c", major: -1, minor: 3, access: "r" },
    { type: "c", major: 1, minor: 3, access: "rwm" },
    { type: "c", major: 136, minor: -1, access: "rw" },
  ],
} as const;
const ALL = { defaultAllow: true, exceptions: [] };
const ALL_BUT_ONE = { defaultAllow: true, exceptions: [{ type: "b", major: 8, minor: 0, access: "w" }] } as const;

function compile(list: Parameters<typeof deviceProperties>[0], systemd: number) {
  const warnings: string[] = [];
  return {
    properties: deviceProperties(
      list,
      () => systemd,
      (text) => warnings.push(text),
    ).map(printProperty),
    warnings,
  };
}

test("what is allowed, in systemd's words", () => {
  expect(compile(LIST, 252)).toEqual({
    properties: ["DevicePolicy='strict'", "DeviceAllow=@a(ss) [('block-*', 'm'), ('/dev/char/1:3', 'rwm'), ('char-136', 'rw')]"],
    warnings: ["systemd 252 cannot name the devices c *:3"],
  });
});

test("systemd before 240 knows no numbered groups", () => {
  const { properties, warnings } = compile(LIST, 239);
  expect(properties[1]).toBe("DeviceAllow=@a(ss) [('block-*', 'm'), ('/dev/char/1:3', 'rwm')]");
  expect(warnings).toEqual(["systemd 239 cannot name the devices c *:3", "systemd 239 cannot name the devices c 136:*"]);
});

test("everything allowed", () => {
  expect(compile(ALL, 252)).toEqual({ properties: ["DevicePolicy='auto'", "DeviceAllow=@a(ss) []"], warnings: [] });
});

test("exceptions to everything: systemd must not open them", () => {
  const { properties, warnings } = compile(ALL_BUT_ONE, 252);
  expect(properties).toEqual(["DevicePolicy='strict'", "DeviceAllow=@a(ss) []"]);
  expect(warnings).toHaveLength(1);
});
