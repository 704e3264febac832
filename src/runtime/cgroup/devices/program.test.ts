import { describe, expect, test } from "vitest";
import { deviceProgram } from "./program.ts";
import { decodeRules } from "./rule.ts";

/** A tiny interpreter of the instructions used: what the kernel would answer. */
function run(program: ArrayBuffer, type: "b" | "c", major: number, minor: number, access: string): number {
  const view = new DataView(program);
  const request = [...access].reduce((bits, letter) => bits | ({ m: 1, r: 2, w: 4 }[letter] ?? 0), 0);
  const context: Readonly<Record<number, number>> = { 0: ((request << 16) | (type === "b" ? 1 : 2)) >>> 0, 4: major, 8: minor };
  const registers = [0, 0, 0, 0, 0, 0];
  for (let pc = 0; ; pc++) {
    const at = pc * 8;
    const to = view.getUint8(at + 1) & 15;
    const from = registers[view.getUint8(at + 1) >> 4] ?? 0;
    const offset = view.getInt16(at + 2, true);
    const value = view.getUint32(at + 4, true);
    const now = registers[to] ?? 0;
    switch (view.getUint8(at)) {
      case 0x61:
        registers[to] = context[offset] ?? 0;
        break;
      case 0x54:
        registers[to] = (now & value) >>> 0;
        break;
      case 0x74:
        registers[to] = now >>> value;
        break;
      case 0xbc:
        registers[to] = from;
        break;
      case 0xb4:
        registers[to] = value;
        break;
      case 0x56:
        if (now !== value) pc += offset;
        break;
      case 0x16:
        if (now === value) pc += offset;
        break;
      case 0x5e:
        if (now !== from) pc += offset;
        break;
      case 0x95:
        return registers[0] ?? -1;
      default:
        throw new Error(`unknown instruction at ${pc}`);
    }
  }
}

const DENYING = deviceProgram(decodeRules(["a:*:*:rwm:deny", "c:*:*:m:allow", "c:1:3:rwm:allow", "c:136:*:rw:allow", "b:8:0:r:allow"]));
const ALLOWING = deviceProgram(decodeRules(["a:*:*:rwm:allow", "b:8:*:w:deny"]));

describe("everything denied but", () => {
  test.each([
    ["c", 1, 3, "rw", 1],
    ["c", 1, 5, "r", 0],
    ["c", 1, 5, "m", 1],
    ["c", 1, 5, "rm", 0],
    ["b", 1, 3, "r", 0],
    ["b", 8, 0, "m", 0],
    ["b", 8, 0, "r", 1],
    ["b", 8, 0, "rw", 0],
    ["c", 136, 77, "rw", 1],
    ["c", 137, 77, "rw", 0],
  ] as const)("%s %d:%d %s -> %d", (type, major, minor, access, verdict) => expect(run(DENYING, type, major, minor, access)).toBe(verdict));
});

describe("everything allowed but", () => {
  test.each([
    ["b", 8, 3, "r", 1],
    ["b", 8, 3, "rw", 0],
    ["b", 8, 3, "w", 0],
    ["c", 8, 3, "w", 1],
  ] as const)("%s %d:%d %s -> %d", (type, major, minor, access, verdict) =>
    expect(run(ALLOWING, type, major, minor, access)).toBe(verdict),
  );
});
