/** A compacted filter answers every call as the one that it was made from (native-bindings/host/compact.c). */
import * as host from "../../../src/runtime/host/index.ts";
import { assemble, enosysStub, type Highest, type Instruction } from "../../../src/runtime/seccomp/stub.ts";
import { SECCOMP_ACTIONS, SECCOMP_ARCHITECTURES } from "../../../src/runtime/spec/seccomp.ts";
import { systemCalls } from "../../../src/runtime/spec/syscalls.ts";
import { random } from "../../support/random.ts";
import { equal, ok, type Test, throws } from "./harness.ts";

type Below = (below: number) => number;

const { SCMP_ACT_ALLOW: ALLOW, SCMP_ACT_ERRNO: ERRNO, SCMP_ACT_KILL_PROCESS: KILL, SCMP_ACT_LOG: LOG } = SECCOMP_ACTIONS;
const { SCMP_ARCH_AARCH64, SCMP_ARCH_X32, SCMP_ARCH_X86, SCMP_ARCH_X86_64 } = SECCOMP_ARCHITECTURES;
const NAMES = [...systemCalls()];
const one = <T>(items: readonly T[], below: Below): T => items[below(items.length)]!;

/** struct seccomp_data, in words: number, architecture, instruction pointer, six arguments. */
type Data = readonly number[];

/** What classic BPF answers, as far as filters use it (linux/filter.h). */
function answer(program: DataView, data: Data): number {
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
const ARGUMENTS = [0, 1, 2, 8, 40, 64, 0x7e02_0000, 0xffff_ffff];

/** Numbers that a program compares with, and their neighbours, of every architecture; the words that it looks at beside them are random. */
function compare(before: ArrayBuffer, numbers: readonly number[], below: Below): void {
  const after = host.compactFilter(before);
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

function numbersOf(program: ArrayBuffer): readonly number[] {
  const view = new DataView(program);
  const numbers = new Set([0, 0x3fff_ffff, 0x4000_0000, 0xffff_ffff]);
  for (let at = 0; at < view.byteLength; at += 8) {
    const value = view.getUint32(at + 4, true);
    for (const number of [value - 1, value, value + 1]) numbers.add(number >>> 0);
  }
  return [...numbers];
}

/** Few and many rules, with and without comparisons, of one architecture and of several. */
function profile(below: Below): string {
  const condition = () => `${below(6)}:${1 + below(7)}:${one(ARGUMENTS, below)}:${one(ARGUMENTS, below)}`;
  const lines = [`default ${one([ALLOW, ERRNO + 1, KILL, LOG], below)}`];
  if (below(3) > 0) lines.push(`arch ${SCMP_ARCH_X86}`, `arch ${SCMP_ARCH_X32}`);
  if (below(2) > 0) lines.push("optimize 2");
  for (let rule = below(12); rule > 0; rule--) {
    const names = Array.from({ length: one([1, 2, 10, 60, 300], below) }, () => one(NAMES, below));
    lines.push(`rule ${one([ALLOW, ERRNO + 1, ERRNO + 38, LOG], below)} ${below(3) === 0 ? condition() : "-"} ${names.join(" ")}`);
  }
  return lines.join("\n");
}

/** undefined: libseccomp refuses it. */
function compiled(text: string): { readonly program: ArrayBuffer; readonly highest: readonly Highest[] } | undefined {
  try {
    return host.seccompCompile(text);
  } catch {
    return undefined;
  }
}

function join(first: ArrayBuffer, second: ArrayBuffer): ArrayBuffer {
  const joined = new Uint8Array(first.byteLength + second.byteLength);
  joined.set(new Uint8Array(first));
  joined.set(new Uint8Array(second), first.byteLength);
  return joined.buffer;
}

/** Any program that the kernel would take: it jumps anywhere forward, and looks at whatever it likes. */
function anyProgram(below: Below): ArrayBuffer {
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

export const compactTests: readonly Test[] = [
  [
    "an engine's profile takes a third of the instructions, and gives every call the same answer",
    () => {
      const names = NAMES.filter((name) => !/^(mount|umount|ptrace|reboot|kexec|swap|init_module|bpf)/.test(name));
      const { program, highest } = compiled(
        [
          `default ${ERRNO + 1}`,
          `arch ${SCMP_ARCH_X86}`,
          `arch ${SCMP_ARCH_X32}`,
          "optimize 2",
          `rule ${ALLOW} - ${names.join(" ")}`,
          `rule ${ALLOW} 0:4:8:0 personality`,
          `rule ${ALLOW} 0:7:2114060288:0 clone`,
        ].join("\n"),
      )!;
      const whole = join(enosysStub(highest), program);
      const short = host.compactFilter(whole);
      ok(short.byteLength * 3 < whole.byteLength, `${whole.byteLength} bytes became ${short.byteLength}`);
      const every = Array.from({ length: 1100 }, (_, index) => (index < 550 ? index : 0x4000_0000 + index - 550));
      compare(whole, [...every, ...numbersOf(whole)], random(1));
      equal(host.sha256(host.compactFilter(short)), host.sha256(short), "compacted again");
    },
  ],
  [
    "random profiles",
    () => {
      const below = random(7);
      let count = 0;
      for (let round = 0; round < 16; round++) {
        const found = compiled(profile(below));
        if (!found) continue;
        count++;
        compare(found.program, numbersOf(found.program), below);
        compare(join(enosysStub(found.highest), found.program), numbersOf(found.program), below);
      }
      ok(count > 5, `${count} profiles`);
    },
  ],
  [
    "random programs: where it cannot be followed it stays as it is",
    () => {
      const below = random(3);
      let shorter = 0;
      for (let round = 0; round < 400; round++) {
        const program = anyProgram(below);
        compare(program, numbersOf(program), below);
        shorter += Number(host.compactFilter(program).byteLength < program.byteLength);
      }
      ok(shorter > 10, `${shorter} became shorter`);
    },
  ],
  [
    "what is no program",
    () => {
      throws("TypeError", () => host.compactFilter(new ArrayBuffer(0)));
      throws("TypeError", () => host.compactFilter(new ArrayBuffer(12)));
      throws("TypeError", () => host.compactFilter(new ArrayBuffer(8 * 4097)));
      // A jump behind the end is the kernel's to refuse.
      const jump = assemble([
        [0x20, 0, 0, 4],
        [0x05, 0, 0, 0xffff_ffff],
        [0x06, 0, 0, ALLOW],
      ]);
      equal(host.sha256(host.compactFilter(jump)), host.sha256(jump));
    },
  ],
];
