/**
 * A device list as a BPF_PROG_TYPE_CGROUP_DEVICE program. The context holds access << 16 | type, major and minor, each u32
 * (struct bpf_cgroup_dev_ctx in linux/bpf.h); the program returns 1 to allow and 0 to refuse.
 */
import type { DeviceException, DeviceList } from "./rule.ts";

const TYPE = { b: 1, c: 2 } as const;
const ACCESS: Readonly<Record<string, number>> = { m: 1, r: 2, w: 4 };
const ACCESS_ALL = 7;

const OP = {
  load: 0x61,
  and: 0x54,
  shiftRight: 0x74,
  move: 0xbc,
  set: 0xb4,
  jumpUnless: 0x56,
  jumpIf: 0x16,
  jumpUnlessRegister: 0x5e,
  exit: 0x95,
} as const;

const R0 = 0;
/** The context at entry, scratch after the four loads. */
const R1 = 1;
const DEVICE_TYPE = 2;
const REQUESTED = 3;
const MAJOR = 4;
const MINOR = 5;

const WORDS = 2;

/** struct bpf_insn (linux/bpf.h) as two words: u8 code, two 4-bit registers, s16 offset; s32 immediate. */
function add(words: number[], code: number, to: number, value = 0, from = 0, offset = 0): void {
  words.push(code | (to << 8) | (from << 12) | (offset << 16), value);
}

export function deviceProgram({ defaultAllow, exceptions }: DeviceList): ArrayBuffer {
  const words: number[] = [];
  add(words, OP.load, DEVICE_TYPE, 0, R1, 0);
  add(words, OP.and, DEVICE_TYPE, 0xffff);
  add(words, OP.load, REQUESTED, 0, R1, 0);
  add(words, OP.shiftRight, REQUESTED, 16);
  add(words, OP.load, MAJOR, 0, R1, 4);
  add(words, OP.load, MINOR, 0, R1, 8);
  for (const exception of exceptions) addBlock(words, exception, !defaultAllow);
  addVerdict(words, defaultAllow);
  return new Uint32Array(words).buffer;
}

/** Return the verdict if everything matches, else go on behind it. */
function addBlock(words: number[], { type, major, minor, access }: DeviceException, allow: boolean): void {
  let mask = 0;
  for (const letter of access) mask |= ACCESS[letter] ?? 0;
  const hasMask = mask !== ACCESS_ALL;
  const length = 1 + (hasMask ? 3 : 0) + (major < 0 ? 0 : 1) + (minor < 0 ? 0 : 1) + 2;
  const last = words.length + (length - 1) * WORDS;
  const addJump = (code: number, to: number, value: number, from = 0) => add(words, code, to, value, from, (last - words.length) / WORDS);
  addJump(OP.jumpUnless, DEVICE_TYPE, TYPE[type]);
  if (hasMask) {
    add(words, OP.move, R1, 0, REQUESTED);
    add(words, OP.and, R1, mask);
    // To allow, the rule must cover all that is requested; to refuse, one letter is enough.
    if (allow) addJump(OP.jumpUnlessRegister, R1, 0, REQUESTED);
    else addJump(OP.jumpIf, R1, 0);
  }
  if (major >= 0) addJump(OP.jumpUnless, MAJOR, major);
  if (minor >= 0) addJump(OP.jumpUnless, MINOR, minor);
  addVerdict(words, allow);
}

function addVerdict(words: number[], allow: boolean): void {
  add(words, OP.set, R0, allow ? 1 : 0);
  add(words, OP.exit, R0);
}
