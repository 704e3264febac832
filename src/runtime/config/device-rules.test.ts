import { expect, test } from "vitest";
import { deviceRuleMode } from "./device-rules.ts";

const NAME = "io.runt.default-device-rules";

test.each([
  [undefined, {}],
  [null, {}],
  [{}, {}],
  [{ [NAME]: "true" }, {}],
  [{ [NAME]: "false" }, { onlyListedDevices: true }],
])("%o", (annotations, expected) => {
  expect(deviceRuleMode(annotations)).toEqual(expected);
});

test.each(["", "no", "False"])("%j is refused", (value) => {
  expect(() => deviceRuleMode({ [NAME]: value })).toThrow(`annotation ${NAME}: ${JSON.stringify(value)} is neither`);
});
