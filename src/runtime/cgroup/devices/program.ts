/**
 * A device list as a BPF_PROG_TYPE_CGROUP_DEVICE program. The context holds access << 16 | type, major and minor, each u32
 * (struct bpf_cgroup_dev_ctx in linux/bpf.h); the program returns 1 to allow and 0 to refuse.
 *
 * It has no jumps: the kernel's verifier follows both ways of each, which took most of the time of loading the program.
 */
import type { DeviceException, DeviceList } from "./rule.ts";

const TYPE = { b: 1, c: 2 } as const;
const ACCESS: Readonly<Record<string, number>> = { m: 1, r: 2, w: 4 };
const ACCESS_ALL = 7;

const OP = {
  load: 0x61,
  set64: 0x18,
  and: 0x54,
  shiftRight: 0x74,
  move: 0xbc,
  move64: 0xbf,
  setLow64: 0xb7,
  add64: 0x07,
  and64: 0x57,
  or64Register: 0x4f,
  and64Register: 0x5f,
  xor64: 0xa7,
  xor64Register: 0xaf,
  negate64: 0x87,
  shiftLeft64: 0x67,
  shiftRight64: 0x77,
  exit: 0x95,
} as const;

const R0 = 0;
/** At entry. */
const CONTEXT = 1;
/** type << 32 | major << 20 | minor: a dev_t has 12 and 20 bits of them. */
const DEVICE = 2;
const REQUESTED = 3;
/** Its highest bit is set as soon as one exception matches. */
const FOUND = 4;
const DIFFERENCE = 5;

const MINOR_BITS = 20;
const MAJOR_BITS = 12;
const SIGN_BIT = 63;

/** struct bpf_insn (linux/bpf.h) as two words: u8 code, two 4-bit registers, s16 offset; s32 immediate. */
function add(words: number[], code: number, to: number, value = 0, from = 0, offset = 0): void {
  words.push(code | (to << 8) | (from << 12) | (offset << 16), value);
}

/** A 64-bit constant takes two instructions. */
function addConstant(words: number[], to: number, high: number, low: number): void {
  words.push(OP.set64 | (to << 8), low, 0, high);
}

export function deviceProgram({ defaultAllow, exceptions }: DeviceList): ArrayBuffer {
  const words: number[] = [];
  add(words, OP.load, DEVICE, 0, CONTEXT, 0);
  add(words, OP.move, REQUESTED, 0, DEVICE);
  add(words, OP.shiftRight, REQUESTED, 16);
  add(words, OP.and, DEVICE, 0xffff);
  add(words, OP.shiftLeft64, DEVICE, MAJOR_BITS);
  add(words, OP.load, R0, 0, CONTEXT, 4);
  add(words, OP.or64Register, DEVICE, 0, R0);
  add(words, OP.shiftLeft64, DEVICE, MINOR_BITS);
  add(words, OP.load, R0, 0, CONTEXT, 8);
  add(words, OP.or64Register, DEVICE, 0, R0);
  add(words, OP.setLow64, FOUND, 0);
  for (const exception of exceptions) addException(words, exception, !defaultAllow);
  add(words, OP.move64, R0, 0, FOUND);
  add(words, OP.shiftRight64, R0, SIGN_BIT);
  if (defaultAllow) {
    add(words, OP.xor64, R0, 1);
    // For a verifier that does not follow an exclusive or.
    add(words, OP.and64, R0, 1);
  }
  add(words, OP.exit, R0);
  return new Uint32Array(words).buffer;
}

/** DIFFERENCE is made 0 by a match, and positive by anything else: less one, only the first of them is negative. */
function addException(words: number[], { type, major, minor, access }: DeviceException, allow: boolean): void {
  // No device has such a number.
  if (major >>> MAJOR_BITS !== 0 && major >= 0) return;
  if (minor >>> MINOR_BITS !== 0 && minor >= 0) return;
  let mask = 0;
  for (const letter of access) mask |= ACCESS[letter] ?? 0;
  addConstant(words, DIFFERENCE, TYPE[type], numbers(Math.max(major, 0), Math.max(minor, 0)));
  add(words, OP.xor64Register, DIFFERENCE, 0, DEVICE);
  if (major < 0 || minor < 0) {
    addConstant(words, R0, 0xffff, numbers(major < 0 ? 0 : ~0, minor < 0 ? 0 : ~0));
    add(words, OP.and64Register, DIFFERENCE, 0, R0);
  }
  // To allow, the rule must cover all that is requested; to refuse, one letter is enough.
  if (mask !== ACCESS_ALL && allow) {
    add(words, OP.move, R0, 0, REQUESTED);
    add(words, OP.and, R0, ACCESS_ALL & ~mask);
    add(words, OP.or64Register, DIFFERENCE, 0, R0);
  }
  add(words, OP.add64, DIFFERENCE, -1);
  if (mask !== ACCESS_ALL && !allow) {
    add(words, OP.move, R0, 0, REQUESTED);
    add(words, OP.and, R0, mask);
    add(words, OP.negate64, R0);
    add(words, OP.and64Register, DIFFERENCE, 0, R0);
  }
  add(words, OP.or64Register, FOUND, 0, DIFFERENCE);
}

function numbers(major: number, minor: number): number {
  return (major << MINOR_BITS) | (minor & ((1 << MINOR_BITS) - 1));
}
