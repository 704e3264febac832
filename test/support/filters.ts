/** Classic BPF programs of seccomp filters, followed and made at random: what a compacted filter is compared with. */
import { compactFilter } from "../../src/runtime/seccomp/compact.ts";
import { assemble, type Instruction } from "../../src/runtime/seccomp/stub.ts";
import { SECCOMP_ACTIONS, SECCOMP_ARCHITECTURES } from "../../src/runtime/spec/seccomp.ts";

export type Below = (below: number) => number;

const { SCMP_ACT_ALLOW: ALLOW, SCMP_ACT_ERRNO: ERRNO } = SECCOMP_ACTIONS;
const { SCMP_ARCH_AARCH64, SCMP_ARCH_X86, SCMP_ARCH_X86_64 } = SECCOMP_ARCHITECTURES;
export const one = <T>(items: readonly T[], below: Below): T => items[below(items.length)]!;

/** struct seccomp_data, in words: number, architecture, instruction pointer, six arguments. */
export type Data = readonly number[];

/** What classic BPF answers, as far as filters use it (linux/filter.h). */
export function answer(program: DataView, data: Data): number {
  let accumulator = 0;
  for (let at = 0; at < program.byteLength; at += 8) {
    const value = program.getUint32(at + 4, true);
    const jump = (condition: boolean): void => {
      at += 8 * program.getUint8(at + (condition ? 2 : 3));
    };
    switch (program.getUint16(at, true)) {
      case 0x20:
        accumulator = data[value / 4]!;
        break;
      case 0x54:
        accumulator = (accumulator & value) >>> 0;
        break;
      case 0x05:
        at += 8 * value;
        break;
      case 0x15:
        jump(accumulator === value);
        break;
      case 0x25:
        jump(accumulator > value);
        break;
      case 0x35:
        jump(accumulator >= value);
        break;
      case 0x45:
        jump((accumulator & value) !== 0);
        break;
      case 0x06:
        return value;
      default:
        throw new Error("unknown instruction");
    }
  }
  throw new Error("no answer");
}

const ARCHITECTURES = [SCMP_ARCH_X86_64, SCMP_ARCH_X86, SCMP_ARCH_AARCH64, 0, 1, 0xffff_ffff];
export const ARGUMENTS = [0, 1, 2, 8, 40, 64, 0x7e02_0000, 0xffff_ffff];

/** Numbers that a program compares with, and their neighbours, of every architecture; the words that it looks at beside them are random. */
export function compare(before: ArrayBuffer, numbers: readonly number[], below: Below): void {
  const after = compactFilter(before);
  const [old, compact] = [new DataView(before), new DataView(after)];
  for (const architecture of ARCHITECTURES) {
    for (const number of numbers) {
      const data = [number, architecture, ...Array.from({ length: 14 }, () => one(ARGUMENTS, below))];
      const [expected, found] = [answer(old, data), answer(compact, data)];
      if (expected !== found)
        throw new Error(`call ${number} of ${architecture.toString(16)} with ${data}: ${found} instead of ${expected}`);
    }
  }
}

export function numbersOf(program: ArrayBuffer): readonly number[] {
  const view = new DataView(program);
  const numbers = new Set([0, 0x3fff_ffff, 0x4000_0000, 0xffff_ffff]);
  for (let at = 0; at < view.byteLength; at += 8) {
    const value = view.getUint32(at + 4, true);
    for (const number of [value - 1, value, value + 1]) numbers.add(number >>> 0);
  }
  return [...numbers];
}

/** Any program that the kernel would take: it jumps anywhere forward, and looks at whatever it likes. */
export function anyProgram(below: Below): ArrayBuffer {
  const length = 4 + below(60);
  const code: Instruction[] = [];
  for (let at = 0; at < length; at++) {
    const left = length - at - 1;
    const value = one([0, 1, 2, 3, 5, 8, 13, SCMP_ARCH_X86_64, SCMP_ARCH_X86, 0x4000_0000, 0xffff_ffff], below);
    const jump = () => below(Math.min(left, 256));
    const kind = left === 0 ? 9 : below(10);
    if (at === 0 || kind < 2) code.push([0x20, 0, 0, 4 * below(4)]);
    else if (kind < 8) code.push([one([0x15, 0x15, 0x25, 0x35, 0x45], below), jump(), jump(), value]);
    else if (kind === 8) code.push(below(2) === 0 ? [0x05, 0, 0, below(left)] : [0x54, 0, 0, value]);
    else code.push([0x06, 0, 0, one([ALLOW, ERRNO + 1, ERRNO + 38], below)]);
  }
  return assemble(code);
}
