/** Signals to processes in a cgroup below a container's own. They must be the container's (../ownership.ts). */
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import type { CgroupRef } from "../model.ts";
import type { Territory } from "../ownership.ts";
import { wantedDirectories } from "./exec-join.ts";
import { type Left, setFrozen } from "./kill.ts";
import { ascending, census } from "./processes.ts";
import { signalListed } from "./signal.ts";
import { type Owner, survey } from "./survey.ts";

const PAUSE_MS = 5;
/** From the first signal on, however long a look takes. */
const LONGEST_MS = 5_000;

/** One directory below the container's, and that one. */
interface Below {
  readonly directory: string;
  readonly above: string;
}

/**
 * `wanted`: "[CONTROLLER,...:]PATH". SIGKILL is repeated until nobody whom it may be sent to is left, for five seconds at most; any other signal is
 * sent once. Returns who is there still, or was not signalled. @throws RuntError cgroup: there is no such cgroup, or it is the container's own
 */
export function signalBelow(cgroup: CgroupRef, owner: Owner, wanted: string, signal: number): Left {
  const places = wantedDirectories(cgroup, [wanted]).flatMap((directory, index): Below[] => {
    const above = cgroup.paths[index]!;
    return directory === above || !host.access(directory, host.ACCESS.EXIST) ? [] : [{ directory, above }];
  });
  if (places.length === 0) throw new RuntError("cgroup", `--cgroup ${wanted}: the container has no such cgroup below its own`);
  let deadline: number | undefined;
  for (;;) {
    const found = look(cgroup, owner, places);
    const isLate = deadline !== undefined && host.monotonic() > deadline;
    if (found.own.length > 0 && !isLate) send(cgroup, owner, places, found.territory, signal);
    if (signal !== host.SIGNALS.KILL) return { ...leftOf(found), stuck: [] };
    if (found.own.length === 0 || isLate) return leftOf(found);
    deadline ??= host.monotonic() + LONGEST_MS;
    host.sleep(PAUSE_MS);
  }
}

interface Found {
  readonly territory: Territory;
  /** Processes that may be signalled, and processes that may not. Host pids, ascending. */
  readonly own: readonly number[];
  readonly others: readonly number[];
  readonly unseen: number;
}

function look(cgroup: CgroupRef, owner: Owner, places: readonly Below[]): Found {
  const there = places.map(({ directory }) => census(directory));
  // After the processes were listed: those that come later are found in the next round.
  const territory = survey(cgroup, owner);
  const pids = ascending(new Set(there.flatMap((one) => [...one.pids])));
  return {
    territory,
    own: pids.filter((pid) => territory.own.has(pid)),
    others: pids.filter((pid) => territory.others.has(pid)),
    unseen: Math.max(...there.map(({ unseen }) => unseen)),
  };
}

function leftOf({ own, others, unseen }: Found): Left {
  return { stuck: own, others, unseen };
}

/** Frozen processes cannot fork away; the signal takes effect as they thaw. Only what is the container's own is frozen. */
function send(cgroup: CgroupRef, owner: Owner, places: readonly Below[], { standing }: Territory, signal: number): void {
  const freezers = (signal === host.SIGNALS.KILL ? places : []).flatMap(({ directory, above }) => {
    const file = `${directory}/${cgroup.version === 2 ? "cgroup.freeze" : "freezer.state"}`;
    return standing.get(above) === "own" && host.access(file, host.ACCESS.EXIST) ? [file] : [];
  });
  for (const file of freezers) setFrozen(cgroup, file, true);
  try {
    signalListed(look(cgroup, owner, places).own, signal, () => new Set(look(cgroup, owner, places).own));
  } finally {
    for (const file of freezers) setFrozen(cgroup, file, false);
  }
}
