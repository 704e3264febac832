/** Calls of the runtime, each beside a witness in its process group, and what has become of them. */
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { writeBundle } from "./bundles.ts";
import type { CallFacts } from "./judge.ts";
import type { Readers } from "./readers.ts";
import type { Root } from "./roots.ts";
import { type Fate, SIGNALS, type VerbStep } from "./steps.ts";
import type { Witness, Witnesses } from "./witnesses.ts";

/** Every verb returns in this time. An emulated machine is slower, but its waits are not. */
export const BOUND_MS = 60_000;
const LOOK_MS = 2;
/** Numbers of signals: ILL, ABRT, BUS, FPE, USR1, SEGV. A forced delete ends other runtimes by TERM and KILL. */
const CRASHES: ReadonlySet<number> = new Set([4, 6, 7, 8, SIGNALS.USR1, 11]);
/** Of a create on the machine that the moments of fates were chosen on. */
const USUAL_MS = 20;

export interface Call extends CallFacts {
  ended: number | undefined;
  succeeded: boolean;
  refused: boolean;
  readonly step: VerbStep;
  readonly witness: Witness;
  /** Batches since it began. */
  age: number;
  isStopped: boolean;
}

interface Setting {
  readonly directory: string;
  readonly rootfs: string;
  readonly witnesses: Witnesses;
  readonly readers: Readers;
  readonly roots: readonly Root[];
  /** Cgroup of a slot. */
  place(slot: number): string;
}

export class Calls {
  readonly all: Call[] = [];
  private readonly setting: Setting;
  private slowness = 1;

  constructor(setting: Setting) {
    this.setting = setting;
  }

  async begin(step: VerbStep): Promise<Call> {
    const { directory, witnesses, roots, readers } = this.setting;
    const number = this.all.length;
    const root = roots[step.root % roots.length]!;
    const stdio = openSync(this.outputOf(number), "w");
    const facts = { number, verb: step.verb, root: step.root, id: step.id, kind: step.kind, reader: step.reader, began: Date.now() };
    // Its number is taken before anything is waited for.
    const placeholder = { ...facts, step, ended: undefined, succeeded: false, refused: false, age: 0, isStopped: false };
    const at = this.all.push(placeholder as unknown as Call) - 1;
    const reading = readers.of(step.reader, step.verb, number);
    const { global, own, terminal } = reading;
    const output = reading.output ?? stdio;
    try {
      const words = this.words(step, number, root, join(directory, `b${number}`), terminal);
      const witness = await witnesses.start(`call-${number}`, {
        words: root.prefix,
        options: this.stretched(step.fate).flatMap(([microseconds, signal]) => ["--fate", String(microseconds), String(signal)]),
        command: [...root.command, ...global, ...words.slice(0, 1), ...own, ...words.slice(1)],
        stdio: ["ignore", output, output],
      });
      return Object.assign(this.all[at]!, { witness });
    } finally {
      closeSync(stdio);
      if (output !== stdio) closeSync(output);
    }
  }

  /** How long a call takes here: what is disturbed in the middle shall be so on a slow machine too. */
  async measure(step: VerbStep): Promise<void> {
    const call = await this.begin(step);
    await this.settle(call, BOUND_MS);
    if (!call.succeeded) throw new Error(`${step.verb}: ${this.output(call)}`);
    this.slowness = Math.max(1, (call.ended! - call.began) / USUAL_MS);
  }

  /** A slow machine needs longer to get there, not to sleep. */
  private stretched(fate: Fate): Fate {
    const later = Math.round((fate[0]?.[0] ?? 0) * (this.slowness - 1));
    return fate.map(([microseconds, signal]) => [microseconds + later, signal]);
  }

  private words(step: VerbStep, number: number, root: Root, directory: string, terminal: boolean): readonly string[] {
    const { rootfs, witnesses, place } = this.setting;
    const { verb, slot, kind } = step;
    const id = root.nameOf?.(step.id) ?? step.id;
    switch (verb) {
      case "create":
      case "run":
      case "run --detach": {
        const cgroupsPath = root.cgroupsPath(place(slot));
        writeBundle({ directory, rootfs, share: witnesses.directory, name: `c-${number}`, kind, cgroupsPath, terminal });
        return [...verb.split(" "), "-b", directory, id];
      }
      case "kill TERM":
      case "kill USR1":
      case "kill KILL":
        return ["kill", id, verb.slice(5)];
      case "kill --all USR1":
      case "kill --all KILL":
        return ["kill", "--all", id, verb.slice(11)];
      case "exec":
      case "exec --detach":
        return [...verb.split(" "), id, "true"];
      case "update":
        return ["update", "--pids-limit", "300", id];
      case "gc":
        return ["gc", "--yes"];
      case "list":
      case "gc --dry-run":
        return verb.split(" ");
      default:
        return [...verb.split(" "), id];
    }
  }

  /** Until it has ended, or the time is over. */
  async settle(call: Call, milliseconds: number): Promise<boolean> {
    for (const end = Date.now() + milliseconds; ; await sleep(LOOK_MS)) {
      const { status, alive } = call.witness;
      if (status !== undefined || !alive) {
        call.ended ??= Date.now();
        call.succeeded = status === 0;
        call.refused = status !== 0 && /ID already exists/.test(this.output(call));
        call.witness.end();
        return true;
      }
      if (Date.now() > end) return false;
    }
  }

  signal(call: Call, signal: number): void {
    if (signal === SIGNALS.STOP) call.isStopped = true;
    if (signal === SIGNALS.CONT) call.isStopped = false;
    call.witness.kill(signal);
  }

  /** A runtime that crashed, or that a signal ended which nobody sends to it; undefined: it said what it had to say. */
  crash(call: Call): string | undefined {
    const output = this.output(call);
    if (/internal error|Segmentation|stack overflow/i.test(output)) return `says ${output}`;
    const { status = 0 } = call.witness;
    const isProgram = call.verb === "run" || call.verb === "exec";
    return CRASHES.has(status - 128) && !isProgram ? `ended with status ${status}: ${output}` : undefined;
  }

  output({ number }: Call): string {
    return readFileSync(this.outputOf(number), "utf8").trim();
  }

  /** How many of each verb came to a good end: a walk of refusals would show nothing. */
  summary(): string {
    const verbs = [...new Set(this.all.map(({ verb }) => verb))];
    const count = (verb: string) => this.all.filter((call) => call.verb === verb);
    return verbs.map((verb) => `${verb} ${count(verb).filter(({ succeeded }) => succeeded).length}/${count(verb).length}`).join(", ");
  }

  /** Its files are no longer needed. */
  forget({ number }: Call): void {
    rmSync(join(this.setting.directory, `b${number}`), { recursive: true, force: true });
  }

  private outputOf(number: number): string {
    return join(this.setting.directory, `o${number}`);
  }
}
