/** A random walk: verbs on many containers one after the other, every answer compared with the model's. */
import { random } from "../support/random.ts";
import { type Action, type Answer, type Container, isAllowed, NONE, outcomes, shownStatus, type VerbName } from "./model.ts";
import type { Subject } from "./subject.ts";

export type Step = ({ readonly id: string } & Action) | { readonly verb: "list" | "gc --dry-run"; readonly id?: undefined };

export interface Mismatch {
  /** All that was done; the last one did not go as expected. */
  readonly steps: readonly Step[];
  readonly expected: string;
  readonly got: string;
}

/** How often a verb is taken. */
const WEIGHTS: Readonly<Record<VerbName | "list" | "gc --dry-run", number>> = {
  create: 12,
  "run --detach": 8,
  start: 14,
  "kill TERM": 4,
  "kill KILL": 4,
  "kill 0": 4,
  pause: 10,
  resume: 10,
  exec: 5,
  "exec --detach": 5,
  update: 5,
  delete: 8,
  "delete --force": 3,
  state: 6,
  inspect: 2,
  ps: 4,
  "events --stats": 5,
  list: 2,
  "gc --dry-run": 1,
};
const BAG = Object.entries(WEIGHTS).flatMap(([verb, weight]) => Array<keyof typeof WEIGHTS>(weight).fill(verb as keyof typeof WEIGHTS));

const IDS = 50;
/** So many of them take part at a time, or none would be done much to. */
const HOT = 10;
const STEPS_BETWEEN = 200;

/** The steps of this seed, without end. */
export function* randomSteps(seed: number): Generator<Step> {
  const below = random(seed);
  const id = (): string => `walk-${below(IDS)}`;
  for (let hot = [id()], count = 0; ; count++) {
    if (count % STEPS_BETWEEN === 0) hot = Array.from({ length: HOT }, id);
    yield step(BAG[below(BAG.length)]!, hot[below(HOT)]!, below);
  }
}

function step(verb: keyof typeof WEIGHTS, id: string, below: (limit: number) => number): Step {
  if (verb === "list" || verb === "gc --dry-run") return { verb };
  return verb === "update" ? { verb, id, limit: 50 + below(100) } : { verb, id };
}

/** Undefined when every answer was right. `more` is asked before each step. */
export async function walk(
  subject: Subject,
  steps: Iterable<Step>,
  more = (): boolean => true,
): Promise<{ done: number; mismatch?: Mismatch }> {
  const containers = new Map<string, Container>();
  const done: Step[] = [];
  for (const next of steps) {
    if (!more()) break;
    done.push(next);
    const wrong = await perform(subject, containers, next);
    if (wrong) return { done: done.length, mismatch: { steps: done, ...wrong } };
  }
  return { done: done.length };
}

type Wrong = Omit<Mismatch, "steps"> | undefined;

async function perform(subject: Subject, containers: Map<string, Container>, next: Step): Promise<Wrong> {
  if (next.id === undefined) return next.verb === "list" ? compareList(subject, containers) : compareGarbage(subject);
  const before = containers.get(next.id) ?? NONE;
  const possible = outcomes(before, [next]);
  const got = await subject.perform(next.id, next);
  const found = possible.filter(({ answers: [answer] }) => isAllowed(answer!, got));
  if (found.length !== 1) return { expected: possible.map(({ answers }) => answerText(answers[0]!)).join(" or "), got: answerText(got) };
  const { container } = found[0]!;
  // `until` waits for its handler.
  containers.set(next.id, { ...container, deaf: false });
  const expected = shownStatus(container);
  if (expected === shownStatus(before)) return undefined;
  const status = await subject.until(next.id, [expected]);
  return status === expected ? undefined : { expected: `then ${expected}`, got: `then ${status}` };
}

async function compareList(subject: Subject, containers: ReadonlyMap<string, Container>): Promise<Wrong> {
  const expected = [...containers].flatMap(([id, container]) => (container.status === "none" ? [] : [`${id} ${shownStatus(container)}`]));
  const [wanted, got] = [expected.sort().join(", "), (await subject.list()).join(", ")];
  return wanted === got ? undefined : { expected: wanted, got };
}

async function compareGarbage(subject: Subject): Promise<Wrong> {
  const count = await subject.garbage();
  return count === 0 ? undefined : { expected: "nothing to collect", got: `${count} objects` };
}

export function answerText({ exit, code, shown }: Answer): string {
  return [exit === "any failure" ? exit : `exit ${exit}`, code, shown].filter((part) => part !== undefined).join(" ");
}

export function stepText(one: Step): string {
  return [one.verb, one.id === undefined ? undefined : "limit" in one ? `${one.limit} ${one.id}` : one.id].filter(Boolean).join(" ");
}

/** The shortest sequence found that still goes wrong. `fails` walks it anew. */
export async function shrink(steps: readonly Step[], fails: (steps: readonly Step[]) => Promise<boolean>): Promise<readonly Step[]> {
  const { id } = steps.at(-1)!;
  const own = steps.filter((one) => one.id === id);
  let shortest = id !== undefined && (await fails(own)) ? own : steps;
  for (let size = Math.ceil(shortest.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < shortest.length - 1; ) {
      const shorter = [...shortest.slice(0, at), ...shortest.slice(Math.min(at + size, shortest.length - 1))];
      if (shorter.length < shortest.length && (await fails(shorter))) shortest = shorter;
      else at += size;
    }
  }
  return shortest;
}
