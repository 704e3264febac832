import { describe, expect, it } from "vitest";
import { compact } from "./compact-elf.ts";

const PAGE = 4096;
const MEMORY = 64 * PAGE;
const [LOAD, NOTE] = [1, 4];

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly fileSize: number;
  readonly memorySize: number;
}

/** An ELF file with pages that are zeros but where `filled` is. */
function elf(segments: readonly Segment[], size: number, filled: readonly (readonly [number, number])[]): Buffer {
  const file = Buffer.alloc(size);
  for (const [from, to] of filled) file.fill(7, from, to);
  file.write("\x7fELF", 0, "latin1");
  file.writeBigUInt64LE(64n, 32);
  file.writeBigUInt64LE(900n, 40);
  for (const [at, value] of [
    [54, 56],
    [56, segments.length],
    [60, 2],
    [62, 1],
  ] as const)
    file.writeUInt16LE(value, at);
  segments.forEach(({ type, offset, address, fileSize, memorySize }, index) => {
    const begin = 64 + index * 56;
    file.writeUInt32LE(type, begin);
    file.writeUInt32LE(5, begin + 4);
    [offset, address, address, fileSize, memorySize].forEach((value, field) => {
      file.writeBigUInt64LE(BigInt(value), begin + 8 + field * 8);
    });
  });
  return file;
}

function segmentsOf(file: Buffer): Segment[] {
  return Array.from({ length: file.readUInt16LE(56) }, (_, index) => {
    const begin = 64 + index * 56;
    const [offset, , address, fileSize, memorySize] = [0, 1, 2, 3, 4].map((field) => Number(file.readBigUInt64LE(begin + 8 + field * 8)));
    return { type: file.readUInt32LE(begin), offset: offset!, address: address!, fileSize: fileSize!, memorySize: memorySize! };
  });
}

/** Memory with rubbish in it, after a loader has done what elf(5) says. */
function loaded(file: Buffer): Buffer {
  const memory = Buffer.alloc(MEMORY, 0xee);
  for (const { type, offset, address, fileSize, memorySize } of segmentsOf(file)) {
    if (type !== LOAD) continue;
    memory.fill(0, address, address + memorySize);
    file.copy(memory, address, offset, offset + fileSize);
  }
  return memory;
}

describe("a compact kernel", () => {
  const segments: Segment[] = [
    { type: LOAD, offset: 2 * PAGE, address: PAGE, fileSize: 20 * PAGE, memorySize: 20 * PAGE },
    { type: LOAD, offset: 22 * PAGE, address: 30 * PAGE, fileSize: 10 * PAGE + 100, memorySize: 25 * PAGE },
    { type: NOTE, offset: 12 * PAGE + 8, address: 0, fileSize: 20, memorySize: 20 },
  ];
  const kernel = elf(segments, 40 * PAGE, [
    [2 * PAGE, 5 * PAGE],
    [7 * PAGE, 7 * PAGE + 1],
    [12 * PAGE + 8, 12 * PAGE + 28],
    [25 * PAGE, 26 * PAGE],
    [32 * PAGE, 32 * PAGE + 10],
    [38 * PAGE, 39 * PAGE],
  ]);
  const made = compact(kernel);

  it("fills the memory as the whole one does", () => {
    expect(loaded(made).equals(loaded(kernel))).toBe(true);
  });

  it("has no long run of zeros, and nothing that no segment has", () => {
    expect(segmentsOf(made).map(({ address, fileSize }) => [address / PAGE, fileSize / PAGE])).toEqual([
      [1, 6],
      [11, 1],
      [30, 4],
      [40, expect.closeTo(100 / PAGE, 5)],
      [0, expect.closeTo(20 / PAGE, 5)],
    ]);
    expect(made.length).toBe(13 * PAGE);
    expect([made.readBigUInt64LE(40), made.readUInt16LE(60), made.readUInt16LE(62)]).toEqual([0n, 0, 0]);
  });

  it("has its note where the header says", () => {
    const note = segmentsOf(made).find(({ type }) => type === NOTE)!;
    expect(made.subarray(note.offset, note.offset + note.fileSize)).toEqual(kernel.subarray(12 * PAGE + 8, 12 * PAGE + 28));
  });

  it("is refused with a note that is not loaded", () => {
    const outside = elf([segments[0]!, { ...segments[2]!, offset: 35 * PAGE }], 40 * PAGE, []);
    expect(() => compact(outside)).toThrow("a segment of type 4 lies outside of what is loaded");
  });
});
