/** Reads what the tests need of 64-bit little-endian ELF files (elf(5)). */
import { readFileSync } from "node:fs";

export const PT = { load: 1, dynamic: 2, interp: 3, tls: 7, gnuStack: 0x6474e551, gnuRelro: 0x6474e552 } as const;
export const PF = { execute: 1, write: 2, read: 4 } as const;
export const SHF = { write: 1, alloc: 2, execute: 4 } as const;
export const ET = { executable: 2, shared: 3 } as const;
const SHT_SYMTAB = 2;
const DT_NEEDED = 1n;

export interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly fileSize: number;
  readonly memorySize: number;
  readonly alignment: number;
}

export interface Section {
  readonly name: string;
  readonly type: number;
  readonly flags: number;
  readonly address: number;
  readonly size: number;
}

export interface Elf {
  readonly type: number;
  /** EM_X86_64 is 62, EM_AARCH64 is 183. */
  readonly machine: number;
  readonly segments: readonly Segment[];
  readonly sections: readonly Section[];
  /** A table of symbols that is no part of the running program. */
  readonly hasSymbols: boolean;
  /** Libraries that a loader would have to find. */
  readonly needed: number;
}

export function readElf(path: string): Elf {
  const file = readFileSync(path);
  if (file.toString("latin1", 0, 4) !== "\x7fELF" || file[4] !== 2 || file[5] !== 1) throw new Error(`${path} is no ELF file of this kind`);
  const number = (at: number): number => Number(file.readBigUInt64LE(at));
  const table = <T>(offset: number, size: number, count: number, entry: (at: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => entry(offset + index * size));
  const segments = table(number(32), file.readUInt16LE(54), file.readUInt16LE(56), (at) => ({
    type: file.readUInt32LE(at),
    flags: file.readUInt32LE(at + 4),
    offset: number(at + 8),
    address: number(at + 16),
    fileSize: number(at + 32),
    memorySize: number(at + 40),
    alignment: number(at + 48),
  }));
  const headers = table(number(40), file.readUInt16LE(58), file.readUInt16LE(60), (at) => at);
  const names = number(headers[file.readUInt16LE(62)]! + 24);
  const sections = headers.map((at) => {
    const name = names + file.readUInt32LE(at);
    return {
      name: file.toString("latin1", name, file.indexOf(0, name)),
      type: file.readUInt32LE(at + 4),
      flags: number(at + 8),
      address: number(at + 16),
      size: number(at + 32),
    };
  });
  const dynamic = segments.find(({ type }) => type === PT.dynamic);
  const tags = dynamic ? table(dynamic.offset, 16, dynamic.fileSize / 16, (at) => file.readBigUInt64LE(at)) : [];
  return {
    type: file.readUInt16LE(16),
    machine: file.readUInt16LE(18),
    segments,
    sections,
    hasSymbols: sections.some(({ type }) => type === SHT_SYMTAB),
    needed: tags.filter((tag) => tag === DT_NEEDED).length,
  };
}
