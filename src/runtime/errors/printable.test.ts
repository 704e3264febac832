import { expect, it } from "vitest";
import { messageLine, printable, printableLines } from "./printable.ts";

it.each([
  ["ESC [2J", "\u001b[2J", "\\u001b[2J"],
  ["the C1 CSI", "\u009b31m", "\\u009b31m"],
  ["a forged line", "a\nlevel=error\r\nb\tc", "a\\nlevel=error\\r\\nb\\tc"],
  ["NUL, BEL and DEL", "\0\u0007\u007f", "\\u0000\\u0007\\u007f"],
  ["separators of lines", "\u0085\u2028\u2029", "\\u0085\\u2028\\u2029"],
  ["directions", "\u202a\u202e\u2066\u2069\u200f\u061c", "\\u202a\\u202e\\u2066\\u2069\\u200f\\u061c"],
  ["half a pair", "\ud83d and \ude00", "\\ud83d and \\ude00"],
  ["what is fit to print", "/a b/ä\u{1f600}\\n", "/a b/ä\u{1f600}\\n"],
])("%s", (_, text, expected) => expect(printable(text)).toBe(expected));

it("keeps lines where they are meant", () => expect(printableLines("a\nb\u001b\r\n")).toBe("a\nb\\u001b\\r\n"));

it("leaves the middle of a long message out", () => {
  const line = messageLine(`begin ${"x".repeat(1 << 20)} end`);
  expect(line.length).toBeLessThan(33_000);
  expect(line).toMatch(/^begin x+ \[1015818 characters left out\] x+ end$/);
});
