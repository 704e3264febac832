import { describe, expect, it } from "vitest";
import { decodeMessage, encodeMessage, messageOf, numberOf, textOf } from "./protobuf.ts";

const hex = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const fromHex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));

describe("protocol buffers", () => {
  it.each([
    [{ 1: 150 }, "089601"],
    [{ 2: "testing" }, "120774657374696e67"],
    [{ 3: { 1: 150 } }, "1a03089601"],
    [{ 1: true, 2: false, 3: undefined }, "08011000"],
    [{ 38: 0x4000_0000 }, "b0028080808004"],
    [{ 4: [1, 2], 5: [] }, "20012002"],
    [{ 1: "é" }, "0a02c3a9"],
  ])("writes %j", (message, expected) => expect(hex(encodeMessage(message))).toBe(expected));

  it("reads what it writes", () => {
    const fields = decodeMessage(encodeMessage({ 1: 2 ** 40, 2: "text", 3: { 1: "inner" }, 4: [5, 6] }));
    expect([numberOf(fields, 1), textOf(fields, 2), textOf(messageOf(fields, 3)!, 1), fields.get(4)]).toEqual([
      2 ** 40,
      "text",
      "inner",
      [5, 6],
    ]);
    expect([numberOf(fields, 2), textOf(fields, 1), messageOf(fields, 9)]).toEqual([undefined, undefined, undefined]);
  });

  it("passes over fields of fixed length", () => {
    const fields = decodeMessage(fromHex("0d010203041102030405060708091805"));
    expect(numberOf(fields, 3)).toBe(5);
  });

  it.each(["08", "0a05ab", "0b", `08${"ff".repeat(11)}`])("refuses %s", (text) => {
    expect(() => decodeMessage(fromHex(text))).toThrow(RangeError);
  });

  it.each([-1, 0.5, 2 ** 60])("does not send %d", (number) => expect(() => encodeMessage({ 1: number })).toThrow(RangeError));
});
