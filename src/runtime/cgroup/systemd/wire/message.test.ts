import { expect, test } from "vitest";
import { decodeMessage, encodeMessage, type Header, MESSAGE_TYPE, messageLength, readBody } from "./message.ts";

const CALL: Header = {
  type: MESSAGE_TYPE.call,
  serial: 7,
  path: "/org/freedesktop/systemd1",
  interface: "org.freedesktop.systemd1.Manager",
  member: "GetUnit",
  destination: "org.freedesktop.systemd1",
  signature: "s",
};

test("what is encoded can be decoded", () => {
  const bytes = encodeMessage(CALL, ["a.scope"]);
  expect(messageLength(bytes)).toBe(bytes.length);
  const message = decodeMessage(bytes);
  expect(message).toMatchObject(CALL);
  expect(readBody(message)).toEqual(["a.scope"]);
});

test("a reply without a body", () => {
  const message = decodeMessage(encodeMessage({ type: MESSAGE_TYPE.reply, serial: 1, replySerial: 7, sender: ":1.0" }));
  expect(message).toMatchObject({ replySerial: 7, sender: ":1.0" });
  expect(message.signature).toBeUndefined();
  expect(readBody(message)).toEqual([]);
});

test("Hello, byte for byte as the specification lays it out", () => {
  const bytes = encodeMessage({ type: MESSAGE_TYPE.call, serial: 1, path: "/a", member: "B" });
  expect(Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")).toBe(
    [
      "6c010001",
      "00000000",
      "01000000",
      "1a000000",
      "01016f00",
      "02000000",
      "2f610000",
      "00000000",
      "03017300",
      "01000000",
      "4200",
      "000000000000",
    ].join(""),
  );
});

test("a big-endian message", () => {
  // Two fields: reply serial and signature "u".
  const words = [0x42020001, 4, 9, 0xf, 0x05017500, 7, 0x08016700, 0x01750000, 42];
  const view = new DataView(new ArrayBuffer(4 * words.length));
  words.forEach((word, index) => {
    view.setUint32(4 * index, word);
  });
  const message = decodeMessage(new Uint8Array(view.buffer));
  expect(message).toMatchObject({ type: 2, serial: 9, replySerial: 7, signature: "u" });
  expect(readBody(message)).toEqual([42]);
});

test("the length is known from the first 16 bytes on", () => {
  const bytes = encodeMessage(CALL, ["x"]);
  expect(messageLength(bytes.subarray(0, 15))).toBeUndefined();
  expect(messageLength(bytes.subarray(0, 16))).toBe(bytes.length);
});

test.each([
  ["no message", 0, 0x7a, "not a D-Bus message"],
  ["another version", 3, 2, "protocol version 2"],
  ["a length out of this world", 7, 0x7f, "D-Bus message of"],
])("%s", (_, at, byte, words) => {
  const bytes = encodeMessage(CALL, ["x"]);
  bytes[at] = byte;
  expect(() => messageLength(bytes)).toThrow(words);
});

test("a header field of the wrong type", () => {
  const bytes = encodeMessage({ type: MESSAGE_TYPE.reply, serial: 1, replySerial: 7 });
  const at = bytes.indexOf(0x75);
  bytes[at] = 0x69;
  expect(() => decodeMessage(bytes)).toThrow("header field replySerial of type i");
});
