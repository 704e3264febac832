import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findLoader, machineName, parseElf } from "../../src/runtime/check/process/executable.ts";

function bytesOf(buffer: Buffer): ArrayBuffer {
  return new Uint8Array(buffer).buffer;
}

/** A 32 bit little endian header with one program header. */
function small(type: number): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(52 + 32));
  new Uint8Array(view.buffer).set([0x7f, 0x45, 0x4c, 0x46, 1, 1, 1]);
  view.setUint16(16, 2, true);
  view.setUint16(18, 40, true);
  view.setUint32(28, 52, true);
  view.setUint16(42, 32, true);
  view.setUint16(44, 1, true);
  view.setUint32(52, type, true);
  view.setUint32(52 + 4, 84, true);
  view.setUint32(52 + 16, 9, true);
  return view.buffer;
}

describe("ELF", () => {
  it("finds the loader of a program of this host", () => {
    const file = readFileSync("/bin/true");
    const elf = parseElf(bytesOf(file.subarray(0, 4096)))!;
    const { offset, size, count } = elf.headers;
    const loader = findLoader(elf, bytesOf(file.subarray(offset, offset + size * count)))!;
    expect(file.subarray(loader.offset, loader.offset + loader.length).toString()).toMatch(/^\/lib.*\/ld-.*\0$/);
    expect(elf.executable).toBe(true);
  });

  it("reads 32 bit headers", () => {
    const elf = parseElf(small(3))!;
    expect(machineName(elf.machine)).toBe("arm (32 bit)");
    expect(findLoader(elf, small(3).slice(52))).toEqual({ offset: 84, length: 9 });
    expect(findLoader(elf, small(1).slice(52))).toBeUndefined();
  });

  it("is not taken in by short or other files, nor by absurd program headers", () => {
    expect(parseElf(new ArrayBuffer(0))).toBeUndefined();
    expect(parseElf(small(3).slice(0, 40))).toBeUndefined();
    expect(parseElf(bytesOf(Buffer.alloc(100, "x")))).toBeUndefined();
    const elf = parseElf(small(3))!;
    expect(findLoader({ ...elf, headers: { offset: 52, size: 0, count: 65535 } }, small(3))).toBeUndefined();
    expect(findLoader({ ...elf, headers: { offset: 52, size: 7, count: 65535 } }, small(3))).toBeUndefined();
    expect(findLoader(elf, new ArrayBuffer(10))).toBeUndefined();
  });

  it("names machines that it does not know by their number", () => {
    expect(machineName(62)).toBe("x86-64");
    expect(machineName(4711)).toBe("machine 4711");
  });
});
