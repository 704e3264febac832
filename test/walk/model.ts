/**
 * What one container does under every verb, as atomic steps: for one verb alone they have one outcome, for two at once every interleaving
 * is allowed and nothing else. Pure.
 */
import { isUnified } from "../support/cgroups.ts";

export interface Container {
  /** reserved: its directory is there, and no record in it, at the beginning of a create and at the end of a delete. */
  readonly status: "none" | "reserved" | "creating" | "created" | "running" | "stopped";
  readonly paused: boolean;
  /** A signal that ends it is on its way. */
  readonly doom: "" | "term" | "kill";
  readonly locked: boolean;
  /** Its program has begun a moment ago, and may have no handler yet. */
  readonly deaf: boolean;
  /** Whoever makes it has been told to end. */
  readonly unwanted: boolean;
  /** Processes that it may have. */
  readonly limit: number;
}

/** Exit status, code of the error in the log, and what a verb that shows something has shown. */
export interface Answer {
  readonly exit: number | "any failure";
  readonly code?: string;
  readonly shown?: string;
}

export interface Action {
  readonly verb: VerbName;
  /** Of `update`. */
  readonly limit?: number;
}

interface Next {
  readonly container: Container;
  readonly then: Step | Answer;
}
/** Every way it can go on; none: it waits for a lock. */
type Step = (container: Container) => readonly Next[];

export const FIRST_LIMIT = 200;
export const NONE: Container = {
  status: "none",
  paused: false,
  doom: "",
  locked: false,
  deaf: false,
  unwanted: false,
  limit: FIRST_LIMIT,
};

const OK: Answer = { exit: 0 };
const failed = (code: string, exit = 1): Answer => ({ exit, code });
const UNKNOWN = failed("id-unknown");
const WRONG = failed("wrong-status");
const UNREADABLE = failed("state-unreadable");

const isLive = ({ status }: Container): boolean => status === "created" || status === "running";

/** As `state` shows it. */
export function shownStatus({ status, paused }: Container): string {
  return paused && status !== "stopped" ? "paused" : status;
}

/** A step that ends the verb, or goes on with the next one. */
const to = (container: Container, then: Step | Answer): readonly Next[] => [{ container, then }];

/** Read the record without the lock. */
const reading =
  (then: Step, exit = 1): Step =>
  (container) => {
    if (container.status === "none") return to(container, { ...UNKNOWN, exit });
    if (container.status === "reserved") return [...to(container, { ...UNREADABLE, exit }), ...to(container, { ...UNKNOWN, exit })];
    return then(container);
  };

/** Read the record, lock, and read it again. */
const locking = (then: Step): Step =>
  reading((before) =>
    to(before, (container) => {
      if (container.locked) return [];
      return container.status === "none" ? to(container, UNKNOWN) : then(container);
    }),
  );

const ENDED_BY_TERM = 128 + 15;
const creating =
  (end: "created" | "running"): Step =>
  (container) => {
    if (container.status !== "none") return to(container, failed("id-exists"));
    const lock: Step = (reserved) => {
      if (reserved.locked) return [];
      // Removed by force before it was locked.
      if (reserved.status === "none") return to(reserved, { exit: "any failure" });
      return to({ ...reserved, status: "creating", locked: true }, (made) => {
        // Too late, or in time.
        const done = to({ ...made, status: end, locked: false, deaf: end === "running", unwanted: false }, OK);
        return made.unwanted ? [...done, ...to(NONE, failed("interrupted", ENDED_BY_TERM))] : done;
      });
    };
    return to({ ...NONE, status: "reserved" }, lock);
  };

const start: Step = locking((container) => {
  if (container.status !== "created" || container.paused) return to(container, WRONG);
  const running = to({ ...container, status: "running", deaf: true }, OK);
  return container.doom === "" ? running : [...running, ...to(container, WRONG)];
});

const kill = (doom: Container["doom"]): Step =>
  reading((before) => {
    if (!isLive(before)) return to(before, WRONG);
    return to(before, (container) => {
      // Its end may or may not be seen.
      if (!isLive(container)) return [...to(container, WRONG), ...to(container, OK)];
      if (doom === "") return to(container, OK);
      const sent: Container = { ...container, doom: container.doom === "kill" ? "kill" : doom };
      // The first process of a pid namespace gets no signal that it has no handler for: init has one while it waits.
      if (doom === "term" && container.deaf) return [...to(container, OK), ...to(sent, OK)];
      return doom === "kill" && before.paused ? to(sent, (frozen) => to({ ...frozen, paused: false }, OK)) : to(sent, OK);
    });
  });

const pause: Step = locking((container) => {
  if (!isLive(container) || container.paused) return to(container, WRONG);
  const frozen = to({ ...container, paused: true }, OK);
  // Whoever is about to end may do so while it is being frozen.
  return container.doom === "" ? frozen : [...frozen, ...to({ ...container, status: "stopped", doom: "" }, OK)];
});
const resume: Step = locking((container) =>
  isLive(container) && container.paused ? to({ ...container, paused: false }, OK) : to(container, WRONG),
);

/** Thawed and dying, dead, then without a record, then gone. */
const removal: Step = (container) =>
  to({ ...container, paused: false, doom: "kill", locked: true }, (dying) =>
    to({ ...dying, status: "stopped", doom: "" }, (dead) => to({ ...dead, status: "reserved" }, () => to(NONE, OK))),
  );

const remove: Step = locking((container) => {
  const removable = container.status === "stopped" || (container.status === "created" && !container.paused);
  return removable ? removal(container) : to(container, WRONG);
});

const lockedRemoval: Step = (container) => {
  if (container.locked) return [];
  if (container.status === "none") return to(container, OK);
  return container.status === "reserved" ? to(NONE, OK) : removal(container);
};

/** Where another verb works on it, init is killed before that has come to its end, or whoever makes it is told to. */
const removeByForce: Step = (before) => {
  if (before.status === "none") return to(before, OK);
  return to(before, (container) => [
    ...to(container, lockedRemoval),
    ...(isLive(container) ? to({ ...container, doom: "kill" }, lockedRemoval) : []),
    ...(container.status === "creating" ? to({ ...container, unwanted: true }, lockedRemoval) : []),
  ]);
};

const EXEC_FAILURE = 255;
const exec = (exit: number): Step =>
  reading((before) => {
    if (!isLive(before) || before.paused) return to(before, failed("wrong-status", EXEC_FAILURE));
    return to(before, (container) =>
      isLive(container) && container.doom === "" ? to(container, { exit }) : to(container, { exit: "any failure" }),
    );
  }, EXEC_FAILURE);

const update = (limit: number): Step =>
  locking((container) => (isLive(container) ? to({ ...container, limit }, OK) : to(container, WRONG)));

const showing = (show: (container: Container) => Answer): Step => reading((container) => to(container, show(container)));

export const EXEC_EXIT = 7;

const VERBS = {
  create: () => creating("created"),
  "run --detach": () => creating("running"),
  start: () => start,
  "kill TERM": () => kill("term"),
  "kill KILL": () => kill("kill"),
  "kill 0": () => kill(""),
  pause: () => pause,
  resume: () => resume,
  exec: () => exec(EXEC_EXIT),
  "exec --detach": () => exec(0),
  update: ({ limit = FIRST_LIMIT }) => update(limit),
  delete: () => remove,
  "delete --force": () => removeByForce,
  state: () => showing((container) => ({ exit: 0, shown: shownStatus(container) })),
  inspect: () => showing((container) => ({ exit: 0, shown: shownStatus(container) })),
  ps: () => showing((container) => ({ exit: 0, shown: isLive(container) ? "some" : "none" })),
  "events --stats": () => showing((container) => (isLive(container) ? { exit: 0, shown: String(container.limit) } : WRONG)),
} as const satisfies Readonly<Record<string, (action: Action) => Step>>;

export type VerbName = keyof typeof VERBS;
export const VERB_NAMES = Object.keys(VERBS) as readonly VerbName[];

export interface Outcome {
  /** One an action. */
  readonly answers: readonly Answer[];
  readonly container: Container;
}

/** Everything that may come of these actions when they are begun at the same time. */
export function outcomes(container: Container, actions: readonly Action[]): readonly Outcome[] {
  const found = new Map<string, Outcome>();
  function explore(at: Container, threads: readonly (Step | Answer)[]): void {
    if (isDying(at)) explore({ ...at, status: "stopped", paused: false, doom: "" }, threads);
    threads.forEach((thread, index) => {
      if (typeof thread !== "function") return;
      for (const next of thread(at)) explore(next.container, threads.with(index, next.then));
    });
    if (threads.some((thread) => typeof thread === "function") || isDying(at)) return;
    const outcome = { answers: threads as readonly Answer[], container: at };
    found.set(JSON.stringify(outcome), outcome);
  }
  explore(
    container,
    actions.map((action) => VERBS[action.verb](action)),
  );
  return [...found.values()];
}

/** A signal ends it unless it is frozen; on cgroup v2 SIGKILL does so even then. */
function isDying(container: Container): boolean {
  return isLive(container) && container.doom !== "" && (!container.paused || (container.doom === "kill" && isUnified));
}

export function isAllowed(expected: Answer, { exit, code, shown }: Answer): boolean {
  if (expected.exit === "any failure") return exit !== 0;
  return expected.exit === exit && expected.code === code && (expected.shown === undefined || expected.shown === shown);
}
