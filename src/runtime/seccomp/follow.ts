/** Where a seccomp filter gets to for every number of a system call. Pure. */
import { type Instruction, JUMP, JUMP_ABOVE, JUMP_AT_LEAST, JUMP_EQUAL, LOAD, OFFSET_ARCHITECTURE, OFFSET_NUMBER, RETURN } from "./stub.ts";

/** From this number to the next answer's: the instruction that answers, or the first one that looks at an argument. */
export interface Answer {
  readonly start: number;
  readonly at: number;
}

/** The program does what this cannot follow. */
export class Unclear extends Error {}

const LAST_NUMBER = 0xffff_ffff;
const ARCHITECTURES_MAX = 32;
/** A program of libseccomp's takes some thousands. */
const STEPS_MAX = 200_000;
const CLASS = 0x07;
const CLASS_JUMP = 0x05;

interface Part {
  readonly at: number;
  readonly low: number;
  readonly high: number;
  readonly holds: number;
}

export const isConditional = (code: number): boolean => (code & CLASS) === CLASS_JUMP && code !== JUMP;

/** Those of one architecture, from the lowest number; neighbours differ. Every architecture that is compared with is added to `architectures`. */
export function answersOf(program: readonly Instruction[], architecture: number, architectures: number[]): readonly Answer[] {
  const answers: Answer[] = [];
  const parts: Part[] = [{ at: 0, low: 0, high: LAST_NUMBER, holds: -1 }];
  let steps = 0;
  for (let part = parts.pop(); part; part = parts.pop()) {
    const { low, high } = part;
    let { at, holds } = part;
    for (;;) {
      const [code, ifTrue, ifFalse, value] = step(program, at, ++steps);
      const looksAtHead = value === OFFSET_NUMBER || value === OFFSET_ARCHITECTURE;
      if (code === RETURN || (code === LOAD && !looksAtHead)) {
        const last = answers.at(-1);
        if (last === undefined || !isSameAnswer(program, last.at, at)) answers.push({ start: low, at });
        break;
      }
      if (code === LOAD) {
        holds = value;
        at++;
      } else if (code === JUMP) {
        at += value + 1;
      } else if (holds === OFFSET_ARCHITECTURE && code === JUMP_EQUAL) {
        note(architectures, value);
        at += 1 + (architecture === value ? ifTrue : ifFalse);
      } else if (holds === OFFSET_NUMBER) {
        const [first, last] = holdsFor(code, value);
        if (low >= first && high <= last) at += 1 + ifTrue;
        else if (high < first || low > last) at += 1 + ifFalse;
        else {
          // The lowest comes first.
          if (high > last) parts.push({ at: at + 1 + ifFalse, low: last + 1, high, holds });
          parts.push({ at: at + 1 + ifTrue, low: Math.max(low, first), high: Math.min(high, last), holds });
          if (low < first) parts.push({ at: at + 1 + ifFalse, low, high: first - 1, holds });
          break;
        }
      } else {
        throw new Unclear("an instruction of another kind");
      }
    }
  }
  return answers;
}

/** Jumps lead forward only, so this ends. */
function step(program: readonly Instruction[], at: number, steps: number): Instruction {
  const instruction = program[at];
  if (instruction === undefined || steps > STEPS_MAX) throw new Unclear("no end");
  return instruction;
}

/** The numbers for which a comparison is true: from the first to the last. */
function holdsFor(code: number, value: number): readonly [first: number, last: number] {
  if (code === JUMP_EQUAL) return [value, value];
  if (code === JUMP_ABOVE) return [value + 1, LAST_NUMBER];
  if (code === JUMP_AT_LEAST) return [value, LAST_NUMBER];
  throw new Unclear("a comparison of another kind");
}

function note(architectures: number[], architecture: number): void {
  if (architectures.includes(architecture)) return;
  if (architectures.push(architecture) > ARCHITECTURES_MAX) throw new Unclear("too many architectures");
}

export function isSameAnswer(program: readonly Instruction[], one: number, other: number): boolean {
  const [a, b] = [program[one]!, program[other]!];
  return one === other || (a[0] === RETURN && b[0] === RETURN && a[3] === b[3]);
}
