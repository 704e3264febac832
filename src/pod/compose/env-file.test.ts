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
  ["A=#b\nB= # c\nC=d # e\nD=f #\n", { A: "#b", B: "# c", C: "d", D: "f" }],
  ["A=b\t# c\n", { A: "b\t# c" }],
  ['A="a"OUT\nB="b" C=c\n', { A: "a", OUT: "out", B: "b", C: "c" }],
  ['A="\\v\\f\\a\\b\\0101\\c\\01\\$OUT\\\\n"\n', { A: "\v\f\x07\bA\\c\\01$OUT\\n" }],
  ["A.B-c[0]=1\nÄ=2", { "A.B-c[0]": "1", Ä: "2" }],
  ["OUT", { OUT: "out" }],
])("%j", (text, values) => {
  expect(read(text, { OUT: "out" })).toEqual(values);
});

test("what is wrong is told with its line", () => {
  expect(() => read("A=1\n=2\n")).toThrow("line 2 is no NAME=VALUE");
  expect(() => read("A B=2\n")).toThrow("line 1 is no NAME=VALUE");
  expect(() => read("A=1\n\nA/B=2\n")).toThrow("line 3 is no NAME=VALUE");
  expect(() => read("A='1\n")).toThrow("line 1: a quote is not closed");
  expect(() => read("\nA=${B\n")).toThrow('line 2: "${" is not closed');
});

test("long files take a time proportional to them", () => {
  const before = process.cpuUsage().user;
  for (const part of ["A= ", "A='x' ", "#", " ", "A=x #\n", "\\", "A:\n", "export "])
    try {
      read(`A="${part.repeat(100_000)}`);
      read(part.repeat(100_000));
    } catch {
      // Only the time matters.
    }
  expect((process.cpuUsage().user - before) / 1e6).toBeLessThan(5);
});
