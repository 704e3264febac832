import { expect, test } from "vitest";
import { wordsOf } from "./words.ts";

test.each([
  ["serve --port 80", ["serve", "--port", "80"]],
  ["  sh -c 'echo \"a b\"'  ", ["sh", "-c", 'echo "a b"']],
  ['echo "a \\"b\\"" c\\ d', ["echo", 'a "b"', "c d"]],
  ["a''b", ["ab"]],
  ["''", [""]],
  ["", []],
])("%j", (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test("a quote that is not closed is refused", () => {
  expect(() => wordsOf("sh -c 'echo")).toThrow("not closed");
});
