/** Seccomp filters as the kernel has them: read from a process, and asked what they answer. */
import { execFileSync } from "node:child_process";
import { program } from "../support/programs.ts";

interface Instruction {
  readonly code: number;
  readonly whenTrue: number;
  readonly whenFalse: number;
  readonly value: number;
}

export interface Filter {
  /** SECCOMP_FILTER_FLAG_* that the kernel keeps: only LOG. */
  readonly flags: number;
  readonly instructions: readonly Instruction[];
}

/** struct seccomp_data, all but the address of the instruction. */
export interface Call {
  readonly number: number;
  /** AUDIT_ARCH_* */
  readonly architecture: number;
  readonly args?: readonly bigint[];
}

/** Filters of a process, the newest first. */
export function filtersOf(pid: number): Filter[] {
  const lines = execFileSync(program("filters"), [String(pid)], { encoding: "utf8" })
    .trimEnd()
    .split("\n")
    .filter(Boolean);
  const filters: { flags: number; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, flags] = /^filter (\d+)$/.exec(line) ?? [];
    if (flags !== undefined) {
      filters.push({ flags: Number(flags), instructions: [] });
      continue;
    }
    const [code = 0, whenTrue = 0, whenFalse = 0, value = 0] = line.split(" ").map(Number);
    filters.at(-1)?.instructions.push({ code, whenTrue, whenFalse, value });
  }
  return filters;
}

/** Of several answers the kernel takes the least, as signed numbers (seccomp(2)); each is SECCOMP_RET_* with its data. */
export function answerOf(filters: readonly Filter[], call: Call): number {
  const answers = filters.map((filter) => evaluate(filter, call));
  return answers.reduce((one, other) => ((other & 0xffff_0000) < (one & 0xffff_0000) ? other : one)) >>> 0;
}

const LOAD = 0x20;
const RETURN = 0x06;
const AND = 0x54;
const JUMP = 0x05;
/** By the comparison in the code of a jump: BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET, each with a constant. */
const COMPARISONS: Readonly<Record<number, (one: number, other: number) => boolean>> = {
  21: (one, other) => one === other,
  37: (one, other) => one > other,
  53: (one, other) => one >= other,
  69: (one, other) => (one & other) !== 0,
};

/** Classic BPF as libseccomp exports it. Little endian. */
function evaluate({ instructions }: Filter, call: Call): number {
  let accumulator = 0;
  for (let at = 0; ; at++) {
    const instruction = instructions[at];
    if (instruction === undefined) throw new Error("the filter has no end");
    const { code, whenTrue, whenFalse, value } = instruction;
    const compare = COMPARISONS[code];
    if (code === RETURN) return value;
    if (code === LOAD) accumulator = wordAt(call, value);
    else if (code === AND) accumulator = (accumulator & value) >>> 0;
    else if (code === JUMP) at += value;
    else if (compare !== undefined) at += compare(accumulator, value) ? whenTrue : whenFalse;
    else throw new Error(`instruction ${code} is unknown`);
  }
}

function wordAt({ number, architecture, args = [] }: Call, offset: number): number {
  if (offset === 0) return number;
  if (offset === 4) return architecture;
  const value = args[Math.floor((offset - 16) / 8)] ?? 0n;
  return Number(BigInt.asUintN(32, offset % 8 === 0 ? value : value >> 32n));
}
