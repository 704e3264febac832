import { describe, expect, test } from "vitest";
import { deviceProgram } from "./program.ts";
import { type DeviceException, type DeviceList, decodeRules } from "./rule.ts";

const BITS: Readonly<Record<string, number>> = { m: 1, r: 2, w: 4 };
const bitsOf = (access: string): number => [...access].reduce((bits, letter) => bits | (BITS[letter] ?? 0), 0);

type Registers = bigint[];
const low = (value: bigint): bigint => BigInt.asUintN(32, value);
/** Of the instructions used, except loads: what each makes of its two registers and its immediate, which is sign-extended. */
const RESULTS: Readonly<Record<number, (to: bigint, from: bigint, value: bigint) => bigint>> = {
  84: (to, _, value) => low(to & value),
  116: (to, _, value) => low(to) >> value,
  188: (_, from) => low(from),
  191: (_, from) => from,
  183: (_, __, value) => value,
  7: (to, _, value) => to + value,
  87: (to, _, value) => to & value,
  79: (to, from) => to | from,
  95: (to, from) => to & from,
  167: (to, _, value) => to ^ value,
  175: (to, from) => to ^ from,
  135: (to) => -to,
  103: (to, _, value) => to << value,
  119: (to, _, value) => to >> value,
};

/** A tiny interpreter of the instructions used: what the kernel would answer. */
function run(program: ArrayBuffer, type: "b" | "c", major: number, minor: number, access: string): bigint {
  const view = new DataView(program);
  const context: Readonly<Record<number, number>> = { 0: ((bitsOf(access) << 16) | (type === "b" ? 1 : 2)) >>> 0, 4: major, 8: minor };
  const registers: Registers = [0n, 0n, 0n, 0n, 0n, 0n];
  for (let at = 0; ; at += 8) {
    const code = view.getUint8(at);
    const to = view.getUint8(at + 1) & 15;
    const value = view.getInt32(at + 4, true);
    if (code === 0x95) return registers[0]!;
    if (code === 0x61) registers[to] = BigInt(context[view.getInt16(at + 2, true)] ?? 0);
    else if (code === 0x18) {
      registers[to] = (BigInt(view.getUint32(at + 12, true)) << 32n) | BigInt(value >>> 0);
      at += 8;
    } else {
      const result = RESULTS[code];
      if (!result) throw new Error(`unknown instruction at ${at / 8}`);
      registers[to] = BigInt.asUintN(64, result(registers[to]!, registers[view.getUint8(at + 1) >> 4]!, BigInt(value)));
    }
  }
}

const DENYING = deviceProgram(decodeRules(["a:*:*:rwm:deny", "c:*:*:m:allow", "c:1:3:rwm:allow", "c:136:*:rw:allow", "b:8:0:r:allow"]));
const ALLOWING = deviceProgram(decodeRules(["a:*:*:rwm:allow", "b:8:*:w:deny"]));

describe("everything denied but", () => {
  test.each([
    ["c", 1, 3, "rw", 1n],
    ["c", 1, 5, "r", 0n],
    ["c", 1, 5, "m", 1n],
    ["c", 1, 5, "rm", 0n],
    ["b", 1, 3, "r", 0n],
    ["b", 8, 0, "m", 0n],
    ["b", 8, 0, "r", 1n],
    ["b", 8, 0, "rw", 0n],
    ["c", 136, 77, "rw", 1n],
    ["c", 137, 77, "rw", 0n],
  ] as const)("%s %d:%d %s -> %d", (type, major, minor, access, verdict) => expect(run(DENYING, type, major, minor, access)).toBe(verdict));
});

describe("everything allowed but", () => {
  test.each([
    ["b", 8, 3, "r", 1n],
    ["b", 8, 3, "rw", 0n],
    ["b", 8, 3, "w", 0n],
    ["c", 8, 3, "w", 1n],
  ] as const)("%s %d:%d %s -> %d", (type, major, minor, access, verdict) =>
    expect(run(ALLOWING, type, major, minor, access)).toBe(verdict),
  );
});

const MAJORS = [0, 1, 2, 2047, 2048, 4095];
const MINORS = [0, 1, 0x7ffff, 0x80000, 0xfffff];
const SETS = ["r", "w", "rw", "m", "rm", "wm", "rwm"];

/** The same sequence for each seed: no run differs from another. */
function randomOf(seed: number): <T>(from: readonly T[]) => T {
  let state = seed;
  return (from) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return from[(state >>> 8) % from.length]!;
  };
}

function randomList(seed: number): DeviceList {
  const one = randomOf(seed);
  const exceptions = Array.from({ length: one([0, 1, 2, 5]) }, (): DeviceException => {
    return { type: one(["b", "c"] as const), major: one([-1, 4096, ...MAJORS]), minor: one([-1, 0x100000, ...MINORS]), access: one(SETS) };
  });
  return { defaultAllow: one([true, false]), exceptions };
}

function allows({ defaultAllow, exceptions }: DeviceList, type: string, major: number, minor: number, access: string): boolean {
  const isMatch = (rule: DeviceException) =>
    rule.type === type &&
    (rule.major === -1 || rule.major === major) &&
    (rule.minor === -1 || rule.minor === minor) &&
    (defaultAllow ? (bitsOf(access) & bitsOf(rule.access)) !== 0 : (bitsOf(access) & ~bitsOf(rule.access)) === 0);
  return exceptions.some(isMatch) !== defaultAllow;
}

test("random lists: the answer for every type, number at a border and access", () => {
  const wrong: string[] = [];
  for (let seed = 1; seed <= 60; seed++) {
    const list = randomList(seed);
    const program = deviceProgram(list);
    for (const type of ["b", "c"] as const)
      for (const major of MAJORS)
        for (const minor of MINORS)
          for (const access of SETS)
            if ((run(program, type, major, minor, access) === 1n) !== allows(list, type, major, minor, access))
              wrong.push(`seed ${seed}: ${type} ${major}:${minor} ${access}`);
  }
  expect(wrong).toEqual([]);
});

test("nothing jumps: the verifier has one way to follow", () => {
  const view = new DataView(DENYING);
  const codes = Array.from({ length: view.byteLength / 8 }, (_, at) => view.getUint8(at * 8));
  const isJump = (code: number) => [5, 6].includes(code & 7) && code !== 0x95;
  expect(codes.filter(isJump)).toEqual([]);
});
