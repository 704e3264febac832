import { SECCOMP_ACTIONS, SECCOMP_ARCHITECTURES } from "../spec/index.ts";

/** The highest system call number that a profile knows of one architecture; -1 = none. */
export interface Highest {
  readonly architecture: number;
  readonly number: number;
}

/** Classic BPF (linux/bpf_common.h): load a word of seccomp_data; jump if equal, above, at least; jump; return. */
export const LOAD = 0x20;
export const JUMP_EQUAL = 0x15;
export const JUMP_ABOVE = 0x25;
export const JUMP_AT_LEAST = 0x35;
export const JUMP = 0x05;
export const RETURN = 0x06;
export const OFFSET_NUMBER = 0;
export const OFFSET_ARCHITECTURE = 4;
/** __X32_SYSCALL_BIT: x32 calls come with the architecture of x86-64 and this bit. */
const X32_BIT = 0x4000_0000;
const ENOSYS = 38;

export type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

const RETURN_ENOSYS: Instruction = [RETURN, 0, 0, SECCOMP_ACTIONS.SCMP_ACT_ERRNO + ENOSYS];
const LOAD_NUMBER: Instruction = [LOAD, 0, 0, OFFSET_NUMBER];
/** Its target is known when everything else stands. */
const TO_FILTER: Instruction = [JUMP, 0, 0, -1];

/**
 * Instructions that go in front of a filter: a system call above the highest one of the profile gives ENOSYS, everything else is the
 * filter's to judge. So a program that tries a newer call than the profile's author knew falls back as on an older kernel (runc's rule).
 */
export function enosysStub(highest: readonly Highest[]): ArrayBuffer {
  const known = new Map(highest.filter(({ number }) => number >= 0).map(({ architecture, number }) => [architecture, number]));
  const x32 = known.get(SECCOMP_ARCHITECTURES.SCMP_ARCH_X32);
  known.delete(SECCOMP_ARCHITECTURES.SCMP_ARCH_X32);
  const code: Instruction[] = [[LOAD, 0, 0, OFFSET_ARCHITECTURE]];
  for (const [architecture, number] of known) {
    const section = architecture === SECCOMP_ARCHITECTURES.SCMP_ARCH_X86_64 ? sectionX86(number, x32) : [LOAD_NUMBER, ...compare(number)];
    code.push([JUMP_EQUAL, 0, section.length, architecture], ...section);
  }
  return assemble(code.map((instruction, index) => (instruction === TO_FILTER ? [JUMP, 0, 0, code.length - index - 1] : instruction)));
}

function compare(number: number): readonly Instruction[] {
  return [[JUMP_ABOVE, 0, 1, number], RETURN_ENOSYS, TO_FILTER];
}

/** Without x32 in the profile its calls are left to the filter, which knows them as a wrong architecture. */
function sectionX86(number: number, x32: number | undefined): readonly Instruction[] {
  const native = compare(number);
  return [LOAD_NUMBER, [JUMP_AT_LEAST, native.length, 0, X32_BIT], ...native, ...(x32 === undefined ? [TO_FILTER] : compareX32(x32))];
}

/** -1 is what a tracer sets to skip a call; libseccomp lets it through. */
function compareX32(number: number): readonly Instruction[] {
  return [[JUMP_EQUAL, 2, 0, 0xffff_ffff], ...compare(number)];
}

/** 8 bytes each, as the kernel takes them. */
export function assemble(code: readonly Instruction[]): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(code.length * 8));
  code.forEach(([operation, ifTrue, ifFalse, value], index) => {
    view.setUint16(index * 8, operation, true);
    view.setUint8(index * 8 + 2, ifTrue);
    view.setUint8(index * 8 + 3, ifFalse);
    view.setUint32(index * 8 + 4, value, true);
  });
  return view.buffer;
}

export function disassemble(program: ArrayBuffer): readonly Instruction[] {
  const view = new DataView(program);
  return Array.from({ length: program.byteLength / 8 }, (_, index) => [
    view.getUint16(index * 8, true),
    view.getUint8(index * 8 + 2),
    view.getUint8(index * 8 + 3),
    view.getUint32(index * 8 + 4, true),
  ]);
}
