/**
 * Whom a container may signal: the one place that decides it. Pure; what is seen of the directories comes from driver/survey.ts, and whatever is
 * signalled, frozen or thawed goes through driver/kill.ts.
 *
 * A directory is the container's own only if something says so at this moment: the mark that create has written, or its init, which is known by pid
 * and start time, in it. It never is when it was there before the container, is the root of a hierarchy, has this very process in it or below, or
 * has the mark of another container. Who is in such a one is left alone, whatever other directories he is in. On v1 only the first
 * directory of a container has a mark: the others count for whom they have in common with it.
 */

/** What is seen of one directory of a container. */
export interface Seen {
  readonly path: string;
  /** It was there before the container, by its record. */
  readonly kept: boolean;
  /** The root of a hierarchy. */
  readonly root: boolean;
  /** This process is in it or below. */
  readonly holdsSelf: boolean;
  /** By the mark on it: the container's, another one's; none. */
  readonly mark: "own" | "other" | "none";
  /** The container's init was seen in it or below, now or before by this process. */
  readonly holdsInit: boolean;
  /** Processes in it and below. */
  readonly pids: ReadonlySet<number>;
  /** How many more, which have no number here. */
  readonly unseen: number;
}

/** Own: proven to be the container's. Shared: so, too, but with a process that is in a foreign one as well. Foreign: proven to be another's. Unproven: neither. */
export type Standing = "own" | "shared" | "foreign" | "unproven";

export interface Territory {
  /** By path. */
  readonly standing: ReadonlyMap<string, Standing>;
  /** Processes that may be signalled. */
  readonly own: ReadonlySet<number>;
  /** Processes that may not. */
  readonly others: ReadonlySet<number>;
  /** Processes without a number here: in directories of the container's own, and in the others. */
  readonly unseen: { readonly own: number; readonly others: number };
}

/** `init`: pid of the container's init while it lives, which may be signalled wherever it is; 0: there is none. */
export function divide(seen: readonly Seen[], init: number): Territory {
  const standing = new Map(seen.map((one) => [one.path, standingOf(one)]));
  const having = (...wanted: readonly Standing[]) => seen.filter(({ path }) => wanted.includes(standing.get(path)!));
  const pidsOf = (some: readonly Seen[]) => new Set(some.flatMap(({ pids }) => [...pids]));
  const foreign = pidsOf(having("foreign"));
  const own = new Set([...pidsOf(having("own"))].filter((pid) => !foreign.has(pid)));
  if (init > 0) own.add(init);
  const hasOthers = ({ pids }: Seen) => [...pids].some((pid) => !own.has(pid));
  // All processes in it are the container's, so the directory is, too.
  for (const one of having("unproven")) if (one.pids.size > 0 && one.unseen === 0 && !hasOthers(one)) standing.set(one.path, "own");
  for (const one of having("own")) if (hasOthers(one)) standing.set(one.path, "shared");
  const most = (some: readonly Seen[]) => Math.max(0, ...some.map(({ unseen }) => unseen));
  return {
    standing,
    own,
    others: new Set([...pidsOf(seen)].filter((pid) => !own.has(pid))),
    unseen: { own: most(having("own", "shared")), others: most(having("foreign", "unproven")) },
  };
}

function standingOf({ kept, root, holdsSelf, mark, holdsInit }: Seen): Standing {
  if (kept || root || holdsSelf || mark === "other") return "foreign";
  return mark === "own" || holdsInit ? "own" : "unproven";
}
