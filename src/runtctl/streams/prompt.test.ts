import { expect, test } from "vitest";
import { HiddenLine } from "./prompt.ts";

const typed = (...pieces: readonly string[]) => {
  const line = new HiddenLine();
  for (const piece of pieces) line.add(Buffer.from(piece));
  return [line.text, line.end];
};

test("a hidden line ends with the key Enter, and has what was typed before, in pieces of any length", () => {
  expect(typed("pass", "word\r")).toEqual(["password", "done"]);
  expect(typed("a\nb")).toEqual(["a", "done"]);
  expect(typed("ä", "ö")).toEqual(["äö", undefined]);
  expect(typed("\r")).toEqual(["", "done"]);
});

test("keys delete a whole character or the line, and end the question", () => {
  expect(typed("aä\x7f\x7f\x7fb\x08c\r")).toEqual(["c", "done"]);
  expect(typed("wrong\x15right\r")).toEqual(["right", "done"]);
  expect(typed("a\x03")).toEqual(["a", "interrupted"]);
  expect(typed("\x04")).toEqual(["", "closed"]);
  expect(typed("a\x04\r")).toEqual(["a\x04", "done"]);
});
