import { describe, expect, it } from "vitest";
import { attributesOf, attributeValue, encodeMessage, FLAG, messagesOf, u16, u32 } from "./message.ts";

const hex = (buffer: ArrayBuffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const bytes = (text: string) =>
  new Uint8Array((text.replaceAll(" ", "").match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16))).buffer;

describe("encodeMessage", () => {
  it("writes header, fixed part and padded attributes", () => {
    const message = encodeMessage(
      0x12,
      FLAG.ACK,
      [1, 2, 3, 4],
      [
        [3, [0x6c, 0x6f, 0]],
        [28, u32(0xfffefdfc)],
      ],
    );
    expect(hex(message)).toBe(
      ["00000000", "1200", "0500", "00000000", "00000000", "01020304", "0700", "0300", "6c6f0000", "0800", "1c00", "fcfdfeff"].join(""),
    );
  });
});

describe("messagesOf", () => {
  const header = (length: number, type: number) =>
    hex(new Uint8Array([...u32(length), ...u16(type), ...u16(2), ...u32(1), ...u32(9)]).buffer);

  it("finds every message with what follows its header", () => {
    const reply = bytes(`${header(18, 16)}aabb0000${header(16, 3)}${header(17, 16)}cc000000`);
    const found = messagesOf(reply).map(({ type, flags, sequence, body }) => [
      [type, flags, sequence],
      hex(body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength) as ArrayBuffer),
    ]);
    expect(found).toEqual([
      [[16, 2, 1], "aabb"],
      [[3, 2, 1], ""],
      [[16, 2, 1], "cc"],
    ]);
    expect(messagesOf(new ArrayBuffer(0))).toEqual([]);
  });

  it.each([15, 21])("refuses a length of %i in 20 bytes", (length) => {
    expect(() => messagesOf(bytes(`${header(length, 16)}00000000`))).toThrow(RangeError);
  });
});

describe("attributesOf", () => {
  const view = (text: string) => new DataView(bytes(text));

  it("reads types without their flags, and values without the padding", () => {
    const attributes = attributesOf(view("ffffffff 0500 0380 aa 000000 0800 0100 01020304 0400 0200"), 4);
    expect(attributes).toEqual([
      [3, [0xaa]],
      [1, [1, 2, 3, 4]],
      [2, []],
    ]);
    expect([attributeValue(attributes, 1), attributeValue(attributes, 9)]).toEqual([[1, 2, 3, 4], undefined]);
  });

  it.each(["0300 0100", "0900 0100 00000000"])("refuses %s", (text) => expect(() => attributesOf(view(text), 0)).toThrow(RangeError));
});
