/** What Compose makes of a command: the outputs of `docker compose config` 2.40.3. */
import { expect, test } from "vitest";
import { wordsOf } from "./words.ts";

test.each([
  ["serve --port 80", ["serve", "--port", "80"]],
  ["  sh -c 'echo \"a b\"'  ", ["sh", "-c", 'echo "a b"']],
  ['echo "a \\"b\\"" c\\ d', ["echo", 'a "b"', "c d"]],
  ["echo \"a\\nb\" 'c\\d'", ["echo", "anb", "c\\d"]],
  ["a''b", ["ab"]],
  ["''", [""]],
  ["", []],
  ["echo `a b` $(c 'd e') \"(x)\"", ["echo", "`a b`", "$(c 'd e')", "(x)"]],
])("%j", (text, words) => {
  expect(wordsOf(text)).toEqual({ words, left: "" });
});

test.each([
  ["echo a; echo b", ["echo", "a"], "; echo b"],
  ["echo a&&b", ["echo", "a"], "&&b"],
  ["a | b", ["a"], "| b"],
  ["a <b", ["a"], "<b"],
  ["a 2>/dev/null", ["a"], ">/dev/null"],
  ["a x2>b", ["a", "x2"], ">b"],
  ["; a", [], "; a"],
  ["a '; b' \\; c", ["a", "; b", ";", "c"], ""],
])("%j ends at an operator of a shell", (text, words, left) => {
  expect(wordsOf(text)).toEqual({ words, left });
});

test("what is not closed, and what only a shell understands, is refused", () => {
  for (const text of ["sh -c 'echo", 'a "b', "a `b", "a $(b", "a \\"]) expect(() => wordsOf(text)).toThrow("not closed");
  for (const text of ["(a)", "a )", "a b(c)"]) expect(() => wordsOf(text)).toThrow("is for a shell");
});

test("long text takes a time proportional to it", () => {
  const before = process.cpuUsage().user;
  for (const part of ["a ", "'a' ", "\\a", "$(a) ", "`"]) wordsOf(part.repeat(200_000));
  expect((process.cpuUsage().user - before) / 1e6).toBeLessThan(5);
});
