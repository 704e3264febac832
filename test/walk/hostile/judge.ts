/** Who may be harmed by which verb, and which verb may wait for what. Pure. */
import type { Kind, Reader, Verb } from "./steps.ts";

/** One call of the runtime. */
export interface CallFacts {
  readonly number: number;
  readonly verb: Verb;
  readonly root: number;
  readonly id: string;
  readonly kind: Kind;
  readonly reader?: Reader | undefined;
  readonly began: number;
  /** undefined: it is still there. */
  readonly ended: number | undefined;
  readonly succeeded: boolean;
  /** It was told that there is such a container. */
  readonly refused: boolean;
}

/** Something that a process of a container has told. */
export interface Harm {
  /** Number of the call that made the container. */
  readonly container: number;
  /** When its program had begun. */
  readonly began: number;
  readonly at: number;
}

const HARMFUL: ReadonlySet<Verb> = new Set<Verb>([
  // Takes the container back when hooks fail.
  "start",
  "kill TERM",
  "kill USR1",
  "kill KILL",
  "kill --all USR1",
  "kill --all KILL",
  "delete",
  "delete --force",
]);
const WAITING: ReadonlySet<Verb> = new Set<Verb>(["create", "run --detach", "run", "start", "exec", "exec --detach"]);

/**
 * A container's own call as long as it lasts, and for ever when it failed; and verbs that name it and were at work meanwhile. `slack`: how late,
 * in milliseconds, a process may tell.
 */
export function isExplained(harm: Harm, calls: readonly CallFacts[], slack: number): boolean {
  const own = calls.find(({ number }) => number === harm.container);
  if (own === undefined) return false;
  if (own.ended === undefined || harm.at <= own.ended || !own.succeeded) return true;
  const isAtWork = ({ ended }: CallFacts) => ended === undefined || ended >= harm.at - slack;
  const named = calls.filter(({ root, id, ended }) => root === own.root && id === own.id && (ended === undefined || ended >= harm.began));
  // What is frozen hears of it when it thaws.
  const wasPaused = named.some(({ verb }) => verb === "pause");
  return named.some((call) => HARMFUL.has(call.verb) && (wasPaused || isAtWork(call)));
}

const HANGING: ReadonlySet<Kind> = new Set<Kind>(["stopper", "create-hook", "start-hook"]);

const UNREAD: ReadonlySet<Reader | undefined> = new Set<Reader>(["full", "log", "console-full"]);

/** Whether it may wait for somebody to read what it writes. */
export const waitsForReader = ({ reader, verb }: CallFacts): boolean => UNREAD.has(reader) || verb === "events";

/** Verbs that act on a container, or on what is in it. Of one that seems to have ended, `kill --all` has nobody to signal, and succeeds. */
const ACTING: ReadonlySet<Verb> = new Set<Verb>([
  "start",
  "kill TERM",
  "kill USR1",
  "kill KILL",
  "pause",
  "resume",
  "update",
  "exec",
  "exec --detach",
]);

/** Whether it says that it has done something with a container that was not made in its root: what is there is a copy of a record. */
export function actedOnCopy(call: CallFacts, calls: readonly CallFacts[]): boolean {
  if (!call.succeeded || !ACTING.has(call.verb)) return false;
  return !calls.some((one) => one.root === call.root && one.id === call.id && mayHaveMade(one));
}

function mayHaveMade({ verb, succeeded, refused }: CallFacts): boolean {
  return (verb === "create" || verb.startsWith("run")) && (succeeded || !refused);
}

/**
 * Whether this call may last until it is told to end: it waits for the container or for a hook, or for another call that does. Every other one
 * has to return by itself.
 */
export function mayWait(call: CallFacts, calls: readonly CallFacts[]): boolean {
  if (call.verb === "run" || waitsForReader(call)) return true;
  if (!WAITING.has(call.verb)) return false;
  const same = calls.filter(({ root, id }) => root === call.root && id === call.id);
  const removals = same.filter(({ verb, succeeded }) => succeeded && verb.startsWith("delete"));
  return same.some(({ verb, kind, ended = Number.POSITIVE_INFINITY }) => {
    const makes = verb === "create" || verb.startsWith("run");
    return makes && HANGING.has(kind) && !removals.some(({ began }) => began > ended);
  });
}
