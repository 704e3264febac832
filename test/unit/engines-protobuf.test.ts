/** The codec that the engines' API clients share, against bytes worked out by hand from the encoding's definition. */
import { expect, it } from "vitest";
import { decode, encode } from "../engines/protobuf.ts";

const Inner = { a: [1, "int"] } as const;
const Message = {
  number: [1, "int"],
  text: [2, "string"],
  inner: [3, Inner],
  numbers: [4, { list: "int" }],
  inners: [5, { list: Inner }],
  map: [6, "map"],
  flag: [7, "bool"],
  data: [16, "bytes"],
} as const;

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");

const CASES: readonly [string, Parameters<typeof encode<typeof Message>>[1], string][] = [
  ["a number of two bytes", { number: 150 }, "08 9601"],
  ["a negative number", { number: -1 }, "08 ffffffffffffffffff01"],
  ["a number of 53 bits", { number: Number.MAX_SAFE_INTEGER }, "08 ffffffffffffff0f"],
  ["a string", { text: "test" }, "12 04 74657374"],
  ["a message", { inner: { a: 1 } }, "1a 02 0801"],
  ["numbers", { numbers: [1, 2] }, "2001 2002"],
  ["messages", { inners: [{ a: 1 }, {}] }, "2a 02 0801 2a 00"],
  ["a map", { map: { k: "v" } }, "32 06 0a016b 120176"],
  ["a field with a number of two bytes", { data: Buffer.from("x") }, "8201 01 78"],
  ["true", { flag: true }, "38 01"],
];

it.each(CASES)("%s", (_name, message, bytes) => {
  expect(encode(Message, message)).toEqual(hex(bytes));
  expect(decode(Message, hex(bytes))).toMatchObject(message);
});

it("gives what has not arrived its default value, and skips what is unknown", () => {
  expect(decode(Message, hex("7a 02 0801 7d 00000000 79 0000000000000000"))).toEqual({
    ...{ number: 0, text: "", inner: undefined, numbers: [], inners: [], map: {}, flag: false, data: Buffer.alloc(0) },
  });
});

it.each(["12 05 74", "08 96", "0b"])("refuses %s", (bytes) => {
  expect(() => decode(Message, hex(bytes))).toThrow(/cut off/);
});
