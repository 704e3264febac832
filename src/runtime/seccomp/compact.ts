/**
 * A seccomp filter in fewer instructions. libseccomp compares with one system call after another; a profile allows nearly all of them, so neighbours
 * mostly share their answer, and one comparison for each change of the answer is enough. The kernel checks, translates and tries a filter for
 * every system call when it is loaded: that takes as long as the filter is (kernel/seccomp.c, seccomp_prepare_filter and seccomp_cache_prepare).
 *
 * What looks at architecture and number alone is written anew, as a binary search; what looks at arguments is copied. At the end both programs are
 * followed for every architecture and every number: only one that is the same for all of them is handed out.
 */
import {
  assemble,
  disassemble,
  type Instruction,
  JUMP,
  JUMP_ABOVE,
  JUMP_AT_LEAST,
  JUMP_EQUAL,
  LOAD,
  OFFSET_ARCHITECTURE,
  OFFSET_NUMBER,
  RETURN,
} from "./stub.ts";

/** From this number to the next answer's: the instruction that answers, or the first one that looks at an argument. */
interface Answer {
  readonly start: number;
  readonly at: number;
}

/**
 * Where a seccomp filter gets to for every number of a system call. Pure. The program does what this
 * cannot follow.
 */
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

const isConditional = (code: number): boolean => (code & CLASS) === CLASS_JUMP && code !== JUMP;

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

function isSameAnswer(program: readonly Instruction[], one: number, other: number): boolean {
  const [a, b] = [program[one]!, program[other]!];
  return one === other || (a[0] === RETURN && b[0] === RETURN && a[3] === b[3]);
}

const SHORT_JUMP = 255;

/** The program itself where it does what cannot be followed, or would not become shorter. */
export function compactFilter(filter: ArrayBuffer): ArrayBuffer {
  try {
    return assemble(new Compaction(disassemble(filter)).run());
  } catch (error) {
    if (error instanceof Unclear) return filter;
    throw error;
  }
}

class Compaction {
  readonly #old: readonly Instruction[];
  readonly #code: [code: number, ifTrue: number, ifFalse: number, value: number][] = [];
  /** Those that the filter compares with, after one that it does not. */
  readonly #architectures: number[];
  /** Old instruction that is copied -> where it is. */
  readonly #places = new Map<number, number>();
  /** New instruction that jumps to such an answer -> which. */
  readonly #targets = new Map<number, number>();

  constructor(old: readonly Instruction[]) {
    this.#old = old;
    const values = new Set(old.map(([, , , value]) => value));
    let other = 0;
    while (values.has(other)) other++;
    this.#architectures = [other];
  }

  run(): readonly Instruction[] {
    this.#emit(LOAD, OFFSET_ARCHITECTURE);
    const others = this.#answers(0);
    // Following the program finds more of them.
    for (let index = 1; index < this.#architectures.length; index++) {
      const answers = this.#answers(index);
      const comparison = this.#emit(JUMP_EQUAL, this.#architectures[index]!);
      this.#emitArchitecture(answers);
      this.#code[comparison]![2] = short(this.#code.length - comparison - 1);
    }
    this.#emitArchitecture(others);
    this.#copyRest();
    this.#verify();
    return this.#code;
  }

  #answers(index: number): readonly Answer[] {
    return answersOf(this.#old, this.#architectures[index]!, this.#architectures);
  }

  /** Returns its place. */
  #emit(code: number, value: number): number {
    if (this.#code.length === this.#old.length) throw new Unclear("longer than before");
    return this.#code.push([code, 0, 0, value]) - 1;
  }

  /** The search, and behind it every answer once. */
  #emitArchitecture(answers: readonly Answer[]): void {
    const different: number[] = [];
    const places = answers.map(({ at }) => {
      const known = different.findIndex((other) => isSameAnswer(this.#old, other, at));
      return known >= 0 ? known : different.push(at) - 1;
    });
    if (answers.length > 1) {
      this.#emit(LOAD, OFFSET_NUMBER);
      const behind = this.#code.length + answers.length - 1;
      this.#emitSearch(answers.map(({ start }, index) => ({ start, place: behind + places[index]! })));
    }
    for (const at of different) this.#emitAnswer(at);
  }

  /** A comparison less than there are pieces. */
  #emitSearch(pieces: readonly { readonly start: number; readonly place: number }[]): void {
    const middle = pieces.length >> 1;
    const [below, above] = [pieces.slice(0, middle), pieces.slice(middle)];
    const here = this.#emit(JUMP_AT_LEAST, above[0]!.start);
    const [ifAbove, ifBelow] = [above, below].map((half) => (half.length === 1 ? half[0]!.place : undefined));
    if (ifBelow === undefined) this.#emitSearch(below);
    this.#code[here]![1] = short((ifAbove ?? this.#code.length) - here - 1);
    if (ifAbove === undefined) this.#emitSearch(above);
    this.#code[here]![2] = short((ifBelow ?? here + 1) - here - 1);
  }

  /** Copied, or a jump to where what looks at arguments will be, whose place is not known yet. */
  #emitAnswer(at: number): void {
    const [code, , , value] = this.#old[at]!;
    if (code === RETURN) this.#emit(RETURN, value);
    else this.#targets.set(this.#emit(JUMP, 0), at);
  }

  /** Copy what looks at arguments, in its order: what leads forward still does. */
  #copyRest(): void {
    const wanted = new Set(this.#targets.values());
    for (const [at, instruction] of this.#old.entries()) {
      if (!wanted.has(at)) continue;
      this.#places.set(at, this.#emit(instruction[0], instruction[3]));
      for (const next of successors(instruction, at)) {
        if (next >= this.#old.length) throw new Unclear("a jump behind the end");
        wanted.add(next);
      }
    }
    for (const [from, to] of this.#targets) this.#code[from]![3] = this.#places.get(to)! - from - 1;
    for (const [at, place] of this.#places) {
      const [first, second] = successors(this.#old[at]!, at).map((next) => this.#places.get(next)! - place - 1);
      const copy = this.#code[place]!;
      if (isConditional(copy[0])) [copy[1], copy[2]] = [short(first!), short(second!)];
      else if (copy[0] === JUMP) copy[3] = first!;
    }
  }

  #verify(): void {
    const count = this.#architectures.length;
    for (const architecture of this.#architectures) {
      const [old, found] = [this.#old, this.#code].map((program) => answersOf(program, architecture, this.#architectures));
      let [before, after] = [0, 0];
      while (before < old!.length && after < found!.length) {
        const [expected, got] = [old![before]!.at, found![after]!.at];
        const [code, , , value] = this.#old[expected]!;
        const isSame =
          code === RETURN ? this.#code[got]![0] === RETURN && this.#code[got]![3] === value : got === this.#places.get(expected);
        if (!isSame) throw new Unclear("another answer");
        const [nextBefore, nextAfter] = [old![before + 1]?.start ?? Infinity, found![after + 1]?.start ?? Infinity];
        if (nextBefore <= nextAfter) before++;
        if (nextAfter <= nextBefore) after++;
      }
    }
    if (this.#architectures.length !== count) throw new Unclear("another architecture");
  }
}

function successors([code, ifTrue, ifFalse, value]: Instruction, at: number): readonly number[] {
  if (code === RETURN) return [];
  if (isConditional(code)) return [at + 1 + ifTrue, at + 1 + ifFalse];
  return [at + 1 + (code === JUMP ? value : 0)];
}

function short(distance: number): number {
  if (distance > SHORT_JUMP) throw new Unclear("a jump that is too far");
  return distance;
}
