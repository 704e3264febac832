import { expect, test } from "vitest";
import { DetachKeys } from "./terminal.ts";

test.each([
  ["plain text goes on", ["ls\r"], "ls\r", 0],
  ["^P ^Q in one", ["a\x10\x11b"], "a", 1],
  ["^P and ^Q apart", ["a\x10", "\x11"], "a", 1],
  ["^P and another key", ["\x10", "x"], "\x10x", 0],
  ["^P twice, then ^Q", ["\x10\x10\x11"], "\x10", 1],
  ["^Q alone", ["\x11"], "\x11", 0],
] as const)("%s", (_, chunks, passed, detached) => {
  let count = 0;
  const keys = new DetachKeys(() => {
    count++;
  });
  expect(Buffer.concat(chunks.map((chunk) => keys.take(Buffer.from(chunk)))).toString()).toBe(passed);
  expect(count).toBe(detached);
});
