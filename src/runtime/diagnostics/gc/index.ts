/** `runt gc`: remove leftovers of containers that no longer exist (docs/decisions/0027-gc.md). */
import { cgroupCensus, deleteCgroup, deleteEmptyLevel, whoseAre } from "../../cgroup/index.ts";
import { stopUnit } from "../../cgroup/systemd/index.ts";
import { RuntError } from "../../errors/index.ts";
import { undoRecorded } from "../../execute/index.ts";
import * as host from "../../host/index.ts";
import { LIVE, type RuntimeOptions } from "../../prepare/index.ts";
import { containerDirectory, lookAtRoot, notOurs, readRecord, removeDirectory, removeRoot, reserve } from "../../state/index.ts";
import { type Kept, look, type Remains, tryLock } from "./look.ts";

/** `found`: it would be removed. */
export type Outcome = "removed" | "found" | "kept" | "failed";

export interface Collected extends Omit<Kept, "id"> {
  readonly id?: string;
  readonly outcome: Outcome;
}

export interface Collection {
  readonly root: string;
  readonly dryRun: boolean;
  readonly objects: readonly Collected[];
  /** Other state roots that cgroups of runt name: theirs are looked at with --root. */
  readonly otherRoots: readonly string[];
}

/**
 * What is made and not yet recorded, or recorded and not yet in its cgroup, looks like remains for a moment. In another mount namespace
 * the state of a container may not even be seen. So only what is the same after this time is taken for remains.
 */
const BETWEEN_LOOKS_MS = 1_000;

export function collect(options: RuntimeOptions, dryRun: boolean): Collection {
  const first = look(options);
  // A create makes a level that is gone once more.
  const isDoubtful = first.remains.some(({ kind }) => kind !== "level");
  const { remains, kept, otherRoots } = isDoubtful ? again(options, new Set(first.remains.map(({ key }) => key))) : first;
  const objects = [...remains.map((one) => (dryRun ? outcome(one, "found") : removed(options, one))), ...kept.map(untouched)];
  return { root: options.root, dryRun, objects, otherRoots };
}

function again(options: RuntimeOptions, known: ReadonlySet<string>) {
  host.sleep(BETWEEN_LOOKS_MS);
  const second = look(options);
  return { ...second, remains: second.remains.filter(({ key }) => known.has(key)) };
}

function outcome({ kind, id, paths, processes, reason }: Remains, what: Outcome, why = reason): Collected {
  return { kind, ...(id !== undefined && { id }), paths, outcome: what, reason: why, ...(processes && { processes }) };
}

function untouched(kept: Kept): Collected {
  return { ...kept, outcome: "kept" };
}

function removed(options: RuntimeOptions, remains: Remains): Collected {
  try {
    return removeOne(options, remains) ? outcome(remains, "removed") : outcome(remains, "kept", "in use again");
  } catch (error) {
    if (!(error instanceof Error && ("errno" in error || error instanceof RuntError))) throw error;
    return outcome(remains, "failed", error instanceof RuntError ? error.message : host.reason(error));
  }
}

/** False: it has become a container's since. */
function removeOne(options: RuntimeOptions, remains: Remains): boolean {
  switch (remains.kind) {
    case "level":
      deleteEmptyLevel(remains.paths[0]!);
      return host.lstat(remains.paths[0]!) === undefined;
    case "cache":
      host.unlink(remains.paths[0]!);
      return true;
    case "state":
      return removeState(options.root, remains);
    case "cgroup":
      return removeCgroup(options, remains);
  }
}

type RemainsOf<Kind> = Remains & { readonly kind: Kind };

function removeState(root: string, { id, inode, created }: RemainsOf<"state">): boolean {
  const lock = tryLock(root, id);
  if (lock === undefined) return false;
  try {
    if (host.fstat(lock).ino !== inode) return false;
    if (created === undefined) {
      if (host.lstat(`${containerDirectory(root, id)}/state.json`) || notOurs(root, id) !== undefined) return false;
      removeDirectory(root, id);
      return true;
    }
    const record = readRecord(root, id);
    if (record.phase !== "creating" || record.created !== created) return false;
    // Who is left alone was found by the look, and is in its outcome.
    undoRecorded(root, record, () => undefined);
    return true;
  } finally {
    host.close(lock);
  }
}

/** The id is reserved meanwhile, as by a create: nobody else makes this container now. */
function removeCgroup({ root, rootless }: RuntimeOptions, { id, paths, kept, unit, marking }: RemainsOf<"cgroup">): boolean {
  const hadRoot = lookAtRoot(root) !== undefined;
  let lock: number;
  try {
    lock = reserve(root, id);
  } catch (error) {
    if (error instanceof RuntError && error.code === "id-exists") return false;
    throw error;
  }
  try {
    const cgroup = { version: LIVE.cgroups().version, paths, kept };
    const { pids, unseen } = cgroupCensus(cgroup);
    if (pids.size + unseen > 0) return false;
    // A create of another state root takes no notice of the id here, and may have made the cgroup anew for its container.
    if (whoseAre(paths, marking) !== "own") return false;
    if (unit !== undefined) stopEmptyUnit(unit, rootless);
    deleteCgroup(cgroup, { mark: marking, init: () => 0 });
    return true;
  } finally {
    removeDirectory(root, id);
    host.close(lock);
    if (!hadRoot) removeRoot(root);
  }
}

/** A unit without processes: systemd may have forgotten it, or may be gone. What counts is whether its cgroup can be removed. */
function stopEmptyUnit(unit: string, rootless: boolean): void {
  try {
    stopUnit({ unit, ...LIVE.systemd(rootless) });
  } catch (error) {
    if (!(error instanceof RuntError)) throw error;
  }
}
