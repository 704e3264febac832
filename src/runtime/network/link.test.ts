import { expect, it } from "vitest";
import { changeRequest, getRequest, readLink } from "./link.ts";
import { type Attribute, encodeMessage, u32 } from "./message.ts";

const hex = (message: ArrayBuffer) => [...new Uint8Array(message, 16)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const ZERO = "00000000";

it("asks by name or by number", () => {
  expect(hex(getRequest("lo"))).toBe(`${ZERO}${ZERO}${ZERO}${ZERO}070003006c6f0000`);
  expect(hex(getRequest(0x102))).toBe(`${ZERO}02010000${ZERO}${ZERO}`);
});

it("moves, renames and sets up, and changes no other flag", () => {
  expect(hex(changeRequest(3, { namespace: 9, name: "é" }))).toBe(`${ZERO}03000000${ZERO}${ZERO}08001c000900000007000300c3a90000`);
  expect(hex(changeRequest(3, { up: true }))).toBe(`${ZERO}030000000100000001000000`);
});

it("reads number, name, hardware address and state", () => {
  const link = (flags: number, address: readonly Attribute[]) =>
    new DataView(encodeMessage(16, 0, [0, 0, 1, 0, ...u32(7), ...u32(flags), ...u32(0)], [[3, [0xc3, 0xa9, 0]], ...address]), 16);
  expect(readLink(link(0x1043, [[1, [2, 0, 0, 0, 0, 1]]]))).toEqual({ index: 7, name: "é", hardwareAddress: [2, 0, 0, 0, 0, 1], up: true });
  expect(readLink(link(0x1042, []))).toEqual({ index: 7, name: "é", hardwareAddress: [], up: false });
});
