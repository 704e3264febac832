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
  "events --stats",
  "list",
  "gc",
  "gc --dry-run",
] as const;
export type Verb = (typeof VERBS)[number];

/** Signals to the runtime itself: after so many microseconds, each. */
export type Fate = readonly (readonly [microseconds: number, signal: number])[];

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
}

export interface WorldStep {
  /**
   * enter, leave: somebody else's process in a cgroup that was there before. intrude: one in a cgroup that a container may have made.
   * stop, wake: the oldest foreground `run` that is running, or stopped. link: the name of a container in a state root is a link to a directory of somebody else.
   * foreign: a state root has a directory that no runtime has made.
   */
  readonly act: "enter" | "leave" | "intrude" | "stop" | "wake" | "link" | "foreign";
  readonly slot: number;
}

export type Step = VerbStep | WorldStep;

export const isVerb = (step: Step): step is VerbStep => "verb" in step;

export const SIGNALS = { TERM: 15, KILL: 9, STOP: 19, CONT: 18, USR1: 10 } as const;

type Name = Verb | WorldStep["act"];
type Weights = Readonly<Partial<Record<Name, number>>>;

const EVERYWHERE: Weights = { list: 1, gc: 4, "gc --dry-run": 1, enter: 6, leave: 6, intrude: 4, stop: 4, wake: 2, link: 3, foreign: 1 };
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
  "events --stats": 1,
};
const bagOf = (weights: Weights) => Object.entries(weights).flatMap(([name, weight]) => Array<Name>(weight).fill(name as Name));
const BAGS = { absent: bagOf(ABSENT), present: bagOf(PRESENT) };
const ACTS: readonly string[] = ["enter", "leave", "intrude", "stop", "wake", "link", "foreign"] satisfies readonly WorldStep["act"][];

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
export const SLOTS = 9;
/** These slots are there before every container; the others are made by them. */
export const KEPT_SLOTS = 2;

/** The steps of this seed, without end. */
export function* randomSteps(seed: number, roots: number): Generator<Step> {
  const below = random(seed);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  /** What there is if everything goes well, which it does not. */
  const present = new Set<string>();
  for (;;) {
    const [root, id, slot] = [below(roots), `h${below(IDS)}`, below(SLOTS)];
    const name = pick(present.has(`${root} ${id}`) ? BAGS.present : BAGS.absent);
    if (name === "create" || name.startsWith("run")) present.add(`${root} ${id}`);
    if (name.startsWith("delete")) present.delete(`${root} ${id}`);
    if (ACTS.includes(name)) {
      const act = name as WorldStep["act"];
      yield { act, slot: act === "enter" || act === "leave" ? slot % KEPT_SLOTS : slot };
      continue;
    }
    yield {
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
  if (!isVerb(step)) return `${step.act} ${step.slot}`;
  const { verb, root, id, slot, kind, fate, together } = step;
  const makes = verb === "create" || verb.startsWith("run") ? ` (slot ${slot}, ${kind})` : "";
  const fates = fate.map(([microseconds, signal]) => ` ${SIGNAL_NAMES.get(signal) ?? signal}@${(microseconds / 1000).toFixed(1)}ms`);
  return `${together ? "& " : ""}${verb} ${root}/${id}${makes}${fates.join("")}`;
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
