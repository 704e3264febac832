import { expect, test } from "vitest";
import { parseEnvFile } from "./env-file.ts";

test("E57: lines, comments, quotes, and nothing expanded", () => {
  const text = [
    "\uFEFF# first",
    "",
    "A=1",
    "  B = two words  # not of it",
    "C='as $A \\n # is'  # more",
    'D="a\\tb\\n\\"c\\" $A"',
    "E=",
    "F=a#b",
    "A=last",
    "G=x=y\r",
  ].join("\n");
  expect(parseEnvFile(text)).toEqual({
    ...{ A: "last", B: "two words", C: "as $A \\n # is", D: 'a\tb\n"c" $A', E: "", F: "a#b", G: "x=y" },
  });
});

test.each([
  ["export A=1", /line 1 is not NAME=VALUE/],
  ["A", /line 1/],
  ["\n1A=x", /line 2/],
  ["A='secret", /line 1: its quotes do not end/],
  ['A="secret" more', /line 1: its quotes/],
  ["A=sec\0ret", /line 1 has a NUL/],
])("E57: %j is refused, without its value", (text, message) => {
  expect(() => parseEnvFile(text)).toThrow(message);
  expect(() => parseEnvFile(text)).not.toThrow(/sec/);
});
