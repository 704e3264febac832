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

interface Instruction {
  readonly code: number;
  readonly to: number;
  readonly from?: number;
  readonly offset?: number;
  readonly value?: number;
}

const INSTRUCTION_SIZE = 8;

const PROLOGUE: readonly Instruction[] = [
  { code: OP.load, to: DEVICE_TYPE, from: R1, offset: 0 },
  { code: OP.and, to: DEVICE_TYPE, value: 0xffff },
  { code: OP.load, to: REQUESTED, from: R1, offset: 0 },
  { code: OP.shiftRight, to: REQUESTED, value: 16 },
  { code: OP.load, to: MAJOR, from: R1, offset: 4 },
  { code: OP.load, to: MINOR, from: R1, offset: 8 },
];

export function deviceProgram({ defaultAllow, exceptions }: DeviceList): ArrayBuffer {
  return assemble([...PROLOGUE, ...exceptions.flatMap((exception) => block(exception, !defaultAllow)), ...verdict(defaultAllow)]);
}

/** Return the verdict if everything matches, else fall through to the next block. */
function block(exception: DeviceException, allow: boolean): Instruction[] {
  const { type, major, minor, access } = exception;
  const mask = [...access].reduce((bits, letter) => bits | (ACCESS[letter] ?? 0), 0);
  const body: Instruction[] = [{ code: OP.jumpUnless, to: DEVICE_TYPE, value: TYPE[type] }];
  if (mask !== ACCESS_ALL) {
    body.push({ code: OP.move, to: R1, from: REQUESTED }, { code: OP.and, to: R1, value: mask });
    // To allow, the rule must cover all that is requested; to refuse, one letter is enough.
    body.push(allow ? { code: OP.jumpUnlessRegister, to: R1, from: REQUESTED } : { code: OP.jumpIf, to: R1, value: 0 });
  }
  if (major >= 0) body.push({ code: OP.jumpUnless, to: MAJOR, value: major });
  if (minor >= 0) body.push({ code: OP.jumpUnless, to: MINOR, value: minor });
  body.push(...verdict(allow));
  return body.map((instruction, index) => (isJump(instruction) ? { ...instruction, offset: body.length - index - 1 } : instruction));
}

function verdict(allow: boolean): Instruction[] {
  return [
    { code: OP.set, to: R0, value: allow ? 1 : 0 },
    { code: OP.exit, to: R0 },
  ];
}

function isJump({ code }: Instruction): boolean {
  return code === OP.jumpUnless || code === OP.jumpIf || code === OP.jumpUnlessRegister;
}

/** struct bpf_insn: u8 code, two 4-bit registers, s16 offset, s32 immediate. */
function assemble(instructions: readonly Instruction[]): ArrayBuffer {
  const buffer = new ArrayBuffer(instructions.length * INSTRUCTION_SIZE);
  const view = new DataView(buffer);
  instructions.forEach(({ code, to, from = 0, offset = 0, value = 0 }, index) => {
    const at = index * INSTRUCTION_SIZE;
    view.setUint8(at, code);
    view.setUint8(at + 1, (from << 4) | to);
    view.setInt16(at + 2, offset, true);
    view.setInt32(at + 4, value | 0, true);
  });
  return buffer;
}
