import { expect, test } from "vitest";
import { decodeUtf8, encodeUtf8 } from "./utf8.ts";

test.each([
  ["", []],
  ["abc", [0x61, 0x62, 0x63]],
  ["a\0b", [0x61, 0, 0x62]],
  ["\u007f\u0080", [0x7f, 0xc2, 0x80]],
  ["\u07ff\u0800", [0xdf, 0xbf, 0xe0, 0xa0, 0x80]],
  ["ä€", [0xc3, 0xa4, 0xe2, 0x82, 0xac]],
  ["\uffff\u{10000}", [0xef, 0xbf, 0xbf, 0xf0, 0x90, 0x80, 0x80]],
  ["😀\u{10ffff}", [0xf0, 0x9f, 0x98, 0x80, 0xf4, 0x8f, 0xbf, 0xbf]],
])("%j and its bytes", (text, bytes) => {
  expect([...encodeUtf8(text)]).toEqual(bytes);
  expect(decodeUtf8(Uint8Array.from(bytes))).toBe(text);
});

test("half a surrogate pair has no form", () => {
  expect(() => encodeUtf8("a\ud800")).toThrow("surrogate");
  expect(() => encodeUtf8("\udc00b")).toThrow("surrogate");
});

test.each([
  ["a lone tail", [0x80]],
  ["a cut end", [0xe2, 0x82]],
  ["an overlong form", [0xc0, 0x80]],
  ["an overlong form of three", [0xe0, 0x80, 0xaf]],
  ["a surrogate", [0xed, 0xa0, 0x80]],
  ["more than U+10FFFF", [0xf4, 0x90, 0x80, 0x80]],
  ["a lead byte of five", [0xf8, 0x88, 0x80, 0x80, 0x80]],
  ["a tail that is none", [0xc3, 0x41]],
])("%s is refused", (_, bytes) => {
  expect(() => decodeUtf8(Uint8Array.from(bytes))).toThrow("not UTF-8");
});
