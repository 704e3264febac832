import { expect, test } from "vitest";
import { parseSignature, parseType, signatureOf } from "./signature.ts";

test.each(["", "y", "a(sv)", "ssa(sv)a(sa(sv))", "a{sv}", "aai", "(ii(sd))v", "a{ya{s(bb)}}", `${"a".repeat(32)}u`, "i".repeat(255)])(
  "%j is a signature",
  (text) => {
    expect(parseSignature(text).map(signatureOf).join("")).toBe(text);
  },
);

test.each([
  "a",
  "(",
  "()",
  "(i",
  "i)",
  "{sv}",
  "a{vs}",
  "a{(i)s}",
  "a{s}",
  "a{svv}",
  "z",
  "A",
  "ä",
  "h",
  `${"a".repeat(33)}u`,
  `${"(".repeat(33)}u${")".repeat(33)}`,
  "i".repeat(256),
])("%j is none", (text) => {
  expect(() => parseSignature(text)).toThrow(RangeError);
});

test("a type is exactly one", () => {
  expect(signatureOf(parseType("a(ss)"))).toBe("a(ss)");
  expect(() => parseType("ss")).toThrow('"ss" is not one type');
  expect(() => parseType("")).toThrow(RangeError);
});
