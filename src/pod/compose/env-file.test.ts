import { expect, test } from "vitest";
import { variablesIn } from "./env-file.ts";

const read = (text: string, environment: Record<string, string> = {}) => variablesIn(text, environment);

/** Compose specification, "Env_file format": comments, quotes, escapes, interpolation. */
test.each([
  ["A=1\nB = two \n", { A: "1", B: "two" }],
  ["# no\n\n  # no\nA=1 # yes\nB=a#b\n", { A: "1", B: "a#b" }],
  ["A='a $X # b'\n", { A: "a $X # b" }],
  ["A='it\\'s'\n", { A: "it's" }],
  ['A="a\\nb\\t\\"c\\""\n', { A: 'a\nb\t"c"' }],
  ['A="a # b" # c\n', { A: "a # b" }],
  [`A=1\nB=\${A}-$OUT-\${NO:-x}\n`, { A: "1", B: "1-out-x" }],
  [`A="\${OUT}"\nB='\${OUT}'\n`, { A: "out", B: `\${OUT}` }],
  ["OUT\nNOBODY\n", { OUT: "out" }],
  ["A=\nB=''\n", { A: "", B: "" }],
  ["export A=1\r\nB: 2\r\n", { A: "1", B: "2" }],
  ["A='one\ntwo'\nB=3\n", { A: "one\ntwo", B: "3" }],
  ["A=b=c\n", { A: "b=c" }],
])("%j", (text, values) => {
  expect(read(text, { OUT: "out" })).toEqual(values);
});

test("what is wrong is told with its line", () => {
  expect(() => read("A=1\n=2\n")).toThrow("line 2 is no NAME=VALUE");
  expect(() => read("A='1\n")).toThrow("line 1: a quote is not closed");
  expect(() => read("\nA=${B\n")).toThrow('line 2: "${" is not closed');
});
