/** What may happen on a hostile host, at random: verbs that are stopped or killed half-way, beside others who come and go. Pure. */
import { random } from "../../support/random.ts";

/** The program of a container, or what keeps it from beginning. */
export const KINDS = ["polite", "deaf", "shared", "stopper", "create-hook", "start-hook"] as const;
export type Kind = (typeof KINDS)[number];

export const VERBS = [
  "create",
  "run --detach",
  "run",
  "start",
  "kill TERM",
  "kill USR1",
  "kill KILL",
  "kill --all USR1",
  "kill --all KILL",
  "pause",
  "resume",
  "update",
  "exec",
  "exec --detach",
  "delete",
  "delete --force",
  "state",
  "ps",
  "inspect",
  "events",
  "events --stats",
  "list",
  "gc",
  "gc --dry-run",
] as const;
export type Verb = (typeof VERBS)[number];

/** Signals to the runtime itself: after so many microseconds, each. */
export type Fate = readonly (readonly [microseconds: number, signal: number])[];

/**
 * Who reads what a verb writes, or does not. full: its output goes to a pipe that is full, and that nobody reads. closed: to one that nobody can read any more.
 * device: to a full device. log: `--log` is a FIFO without a reader. pid-fifo, pid-link, pid-directory: what has the name of the pid file. console-full,
 * console-closed: the socket of the terminal accepts nobody, or ends every connection.
 */
export const READERS = [
  "full",
  "closed",
  "device",
  "log",
  "pid-fifo",
  "pid-link",
  "pid-directory",
  "console-full",
  "console-closed",
] as const;
export type Reader = (typeof READERS)[number];

export interface VerbStep {
  readonly verb: Verb;
  /** Index of a state root; each has its own way to be called. */
  readonly root: number;
  readonly id: string;
  /** Of create and run: which cgroup, and what runs there. */
  readonly slot: number;
  readonly kind: Kind;
  readonly fate: Fate;
  /** At the same time as the step before. */
  readonly together: boolean;
  /** Without one somebody reads. */
  readonly reader?: Reader;
}

/** What is in the directory of a container, or may be. */
export const ENTRIES = [
  "state.json",
  "config.json",
  "exec.fifo",
  "state.json",
  "start.error",
  "state.json.new",
  "seccomp.bpf",
  "notify",
] as const;
/** What becomes of it; another's: the entry of that name of another container, if there is one. */
export const WAYS = [
  "gone",
  "empty",
  "cut off",
  "garbage",
  "a directory",
  "a FIFO",
  "a link",
  "a link to a directory",
  "another's",
  "of another user",
] as const;

export interface WorldStep {
  /**
   * enter, leave: somebody else's process in a cgroup that was there before. intrude: one in a cgroup that a container may have made.
   * stop, wake: the oldest foreground `run` that is running, or stopped. link: the name of a container in a state root is a link to a directory of somebody else.
   * foreign: a state root has a directory that no runtime has made. lose: the records of a container are removed. damage: one of them is damaged. copy: the records of
   * a state root are copied to another one, where no such container is.
   */
  readonly act: (typeof WORLD_ACTS)[number];
  readonly slot: number;
  /** Of damage: which entry, and what becomes of it. */
  readonly how?: number;
}

const WORLD_ACTS = ["enter", "leave", "intrude", "stop", "wake", "link", "foreign", "lose", "damage", "copy"] as const;

/** The entry and the way of a damage. */
export function damageOf({ how = 0 }: WorldStep): readonly [entry: (typeof ENTRIES)[number], way: (typeof WAYS)[number]] {
  return [ENTRIES[how % ENTRIES.length]!, WAYS[Math.floor(how / ENTRIES.length) % WAYS.length]!];
}

export type Step = VerbStep | WorldStep;

export const isVerb = (step: Step): step is VerbStep => "verb" in step;

export const SIGNALS = { TERM: 15, KILL: 9, STOP: 19, CONT: 18, USR1: 10 } as const;

type Name = Verb | WorldStep["act"];
type Weights = Readonly<Partial<Record<Name, number>>>;

const EVERYWHERE: Weights = {
  list: 1,
  gc: 4,
  "gc --dry-run": 1,
  enter: 6,
  leave: 6,
  intrude: 4,
  stop: 4,
  wake: 2,
  link: 2,
  foreign: 1,
  lose: 1,
  damage: 5,
  copy: 3,
};
/** How often each is taken where there may be no container, and where there may be one. */
const ABSENT: Weights = {
  ...EVERYWHERE,
  create: 20,
  "run --detach": 24,
  run: 8,
  "delete --force": 4,
  "kill KILL": 1,
  state: 1,
};
const PRESENT: Weights = {
  ...EVERYWHERE,
  create: 2,
  "run --detach": 2,
  run: 1,
  start: 12,
  "kill TERM": 4,
  "kill USR1": 4,
  "kill KILL": 4,
  "kill --all USR1": 5,
  "kill --all KILL": 4,
  pause: 4,
  resume: 5,
  update: 3,
  exec: 5,
  "exec --detach": 4,
  delete: 6,
  "delete --force": 10,
  state: 2,
  ps: 2,
  inspect: 1,
  events: 1,
  "events --stats": 1,
};
const bagOf = (weights: Weights) => Object.entries(weights).flatMap(([name, weight]) => Array<Name>(weight).fill(name as Name));
const BAGS = { absent: bagOf(ABSENT), present: bagOf(PRESENT) };
const ACTS: readonly string[] = WORLD_ACTS;

const KIND_BAG: readonly Kind[] = [
  "polite",
  "polite",
  "polite",
  "polite",
  "deaf",
  "deaf",
  "shared",
  "shared",
  "shared",
  "stopper",
  ...KINDS,
];

/** Few of them: what comes back is what can be mistaken for what was there before. */
const IDS = 3;
export const SLOTS = 12;
/** These slots are there before every container; the others are made by them. */
export const KEPT_SLOTS = 2;

/** State roots of the walk; the others are somebody else's, or a copy, in which containers are made as well. */
export const OWN_ROOTS = 3;
export const COPY_ROOT = 3;
/** In those there is mostly something that a verb could be told to act on. */
const ROOT_BAG = [...Array.from({ length: 5 * OWN_ROOTS }, (_, index) => index % OWN_ROOTS), COPY_ROOT, COPY_ROOT, 4, 5, 6];

/** The steps of this seed, without end. */
export function* randomSteps(seed: number): Generator<Step> {
  const below = random(seed);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  /** What there is if everything goes well, which it does not. */
  const present = new Set<string>();
  for (;;) {
    const [root, id, slot] = [pick(ROOT_BAG), `h${below(IDS)}`, below(SLOTS)];
    const name = pick(present.has(`${root} ${id}`) || (root >= COPY_ROOT && below(3) > 0) ? BAGS.present : BAGS.absent);
    if (name === "create" || name.startsWith("run")) present.add(`${root} ${id}`);
    if (name.startsWith("delete")) present.delete(`${root} ${id}`);
    if (ACTS.includes(name)) {
      const act = name as WorldStep["act"];
      if (act === "damage") yield { act, slot: below(IDS * (OWN_ROOTS + 1)), how: below(ENTRIES.length * WAYS.length) };
      else yield { act, slot: act === "enter" || act === "leave" ? slot % KEPT_SLOTS : slot };
      continue;
    }
    const reader = below(6) === 0 ? { reader: pick(READERS) } : {};
    yield {
      ...reader,
      verb: name as Verb,
      root,
      id,
      slot,
      kind: pick(KIND_BAG),
      fate: randomFate(below),
      together: below(3) === 0,
    };
  }
}

/** Mostly none. Creating takes some milliseconds, most of it the first ones; a stopped runtime sleeps for less than two seconds. */
function randomFate(below: (limit: number) => number): Fate {
  const moment = below(4) === 0 ? below(60_000) : below(15_000);
  switch (below(14)) {
    case 0:
    case 1:
      return [[moment, SIGNALS.KILL]];
    case 2:
      return [
        [moment, SIGNALS.STOP],
        [moment + 20_000 + below(1_500_000), SIGNALS.CONT],
      ];
    case 3:
      return [
        [moment, SIGNALS.STOP],
        [moment + 20_000 + below(300_000), SIGNALS.KILL],
      ];
    case 4:
      return [[moment, SIGNALS.TERM]];
    default:
      return [];
  }
}

const SIGNAL_NAMES = new Map(Object.entries(SIGNALS).map(([name, number]): [number, string] => [number, name]));

export function stepText(step: Step): string {
  if (!isVerb(step)) return `${step.act} ${step.slot}${step.act === "damage" ? ` (${damageOf(step).join(" ")})` : ""}`;
  const { verb, root, id, slot, kind, fate, together, reader } = step;
  const makes = verb === "create" || verb.startsWith("run") ? ` (slot ${slot}, ${kind})` : "";
  const fates = fate.map(([microseconds, signal]) => ` ${SIGNAL_NAMES.get(signal) ?? signal}@${(microseconds / 1000).toFixed(1)}ms`);
  return `${together ? "& " : ""}${verb} ${root}/${id}${makes}${reader === undefined ? "" : ` (reader: ${reader})`}${fates.join("")}`;
}

/** In groups: those of one begin at the same time. */
export function* batches(steps: Iterable<Step>): Generator<readonly Step[]> {
  let batch: Step[] = [];
  for (const step of steps) {
    const joins = isVerb(step) && step.together && batch.length < MOST_TOGETHER && batch.every(isVerb);
    if (!joins && batch.length > 0) {
      yield batch;
      batch = [];
    }
    batch.push(step);
  }
  if (batch.length > 0) yield batch;
}

const MOST_TOGETHER = 4;

/** The shortest list found that still goes wrong. `fails` does it anew, and may give up by saying no. */
export async function shrink<T>(steps: readonly T[], fails: (steps: readonly T[]) => Promise<boolean>): Promise<readonly T[]> {
  let shortest = steps;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < shortest.length; ) {
      const shorter = shortest.toSpliced(at, size);
      if (shorter.length > 0 && (await fails(shorter))) shortest = shorter;
      else at += size;
    }
  }
  return shortest;
}
