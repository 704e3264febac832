/**
 * Where a store is. It records which directory it is in, so that a copy of a state directory is known as one: what runs belongs to the original, and a daemon on the copy
 * must not end, remove or take over anything of it.
 */

import { randomUUID } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { Executor } from "../../executor/index.ts";
import { lockedFile } from "../../shared/linux/index.ts";
import { copiedRecord, copiedService } from "../model/index.ts";
import { removeOwnTree } from "../own/index.ts";
import { type Contents, type Store, type StoredRecord, StoreError } from "../store/index.ts";
import { bootId, systemClock } from "./clock.ts";
import {
  hostFactsIn,
  hostRow,
  type Inode,
  type Place,
  placeIn,
  placeRow,
  serviceRow,
  servicesIn,
  taskRow,
  tasksIn,
} from "./desired/codec.ts";
import type { EngineLog } from "./log.ts";
import { Paths } from "./paths.ts";
import type { EngineSettings } from "./settings.ts";

/** Directories of a state directory with what belongs to running containers. The data of tasks is elsewhere. */
const OF_RUNNING = ["executors", "executors-in-memory", "network", "users", "secrets", "pools", "pool-roots"];

/**
 * Makes sure that the store is where it was written. Returns its records: of a copy whose original is there, tasks without anything that runs.
 * @throws StoreError moved; not-written, for what has to be recorded before anything is done
 */
export async function takePlace(
  store: Store,
  contents: Contents,
  { stateDir, moved: isMoved = false, log = () => {} }: Pick<EngineSettings, "stateDir" | "moved" | "log">,
): Promise<Contents> {
  const here = placeAt(stateDir, store.path);
  const recorded = placeIn(contents.records);
  if (recorded === undefined && !(await hasOthersExecutors(stateDir))) {
    recordSoon(store, { ...here, id: randomUUID() }, log);
    return contents;
  }
  if (recorded !== undefined && recorded.path === here.path && isSame(recorded, recorded.directory, here.directory)) {
    if (JSON.stringify(recorded) !== JSON.stringify({ ...here, id: recorded.id })) recordSoon(store, { ...here, id: recorded.id }, log);
    return contents;
  }
  if (!isMoved) throw moved(store.path, recorded, here);
  if (recorded !== undefined && !hasOriginal(recorded, here)) {
    store.commit({ put: [placeRow({ ...here, id: recorded.id })] });
    log("info", "state-moved", { from: recorded.path, to: here.path });
    return contents;
  }
  return becomeOwn(store, contents, here, { stateDir, log });
}

function moved(path: string, recorded: Place | undefined, here: Omit<Place, "id">): StoreError {
  const from = recorded === undefined ? "another directory" : named(recorded);
  return new StoreError(
    "moved",
    path,
    `it belongs into ${from}, and is in ${named(here)}. If the state directory was moved, or is to become one of its own, start once with --moved (the setting "moved" of the library)`,
  );
}

function named({ path, directory: { device, inode } }: Pick<Place, "path" | "directory">): string {
  return `${path} (inode ${inode} of device ${device})`;
}

/** What runs stays with the original. What is removed here are copies of its files: first they, so that a copy that is half done is asked about again. */
function becomeOwn(
  store: Store,
  { records, damaged }: Contents,
  here: Omit<Place, "id">,
  { stateDir, log }: { readonly stateDir: string; readonly log: EngineLog },
): Contents {
  for (const name of OF_RUNNING) removeOwnTree(join(stateDir, name));
  const facts = hostFactsIn(records);
  const put: StoredRecord[] = [
    ...tasksIn(records, store.path).map((record) => taskRow(copiedRecord(record, systemClock.now(), randomUUID()))),
    ...[...servicesIn(records).values()].map((service) => serviceRow(copiedService(service))),
    ...(facts === undefined ? [] : [hostRow({ ...facts, interfaces: [] })]),
    placeRow({ ...here, id: randomUUID() }),
  ];
  // Pools are only of prepared containers, and the ids that these have are the original's.
  const pools = records.filter(({ kind }) => kind === "pool");
  store.commit({ put, remove: pools });
  log("info", "state-copied", { to: here.path });
  const isPut = ({ kind, key }: StoredRecord) => put.some((one) => one.kind === kind && one.key === key);
  return { records: [...records.filter((one) => !isPut(one) && one.kind !== "pool"), ...put], damaged };
}

/** Nothing depends on it now: a full disk keeps no daemon from its start. */
function recordSoon(store: Store, place: Place, log: EngineLog): void {
  try {
    store.commit({ put: [placeRow(place)] });
  } catch (error) {
    if (!(error instanceof StoreError && error.code === "not-written")) throw error;
    log("error", "place-not-recorded", { message: error.message });
  }
}

function placeAt(stateDir: string, database: string): Omit<Place, "id"> {
  return { directory: inodeOf(stateDir)!, database: inodeOf(database)!, path: realpathSync(stateDir), bootId: bootId() };
}

function inodeOf(path: string): Inode | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && { device: String(found.dev), inode: String(found.ino) };
}

function isSame({ bootId: boot }: Place, one: Inode, other: Inode | undefined): boolean {
  return one.inode === other?.inode && (one.device === other.device || boot !== bootId());
}

/** Whether the directory in which the store was written is another one than this, and still there: at its path, or in use wherever it is now. */
function hasOriginal(recorded: Place, here: Omit<Place, "id">): boolean {
  const there = inodeOf(recorded.path);
  if (there !== undefined && isSame(recorded, recorded.directory, there) && !isEqual(there, here.directory)) return true;
  return recorded.bootId === bootId() && !isEqual(recorded.database, here.database) && isLocked(recorded.database);
}

function isEqual(one: Inode, other: Inode): boolean {
  return one.device === other.device && one.inode === other.inode;
}

/** Whether a process holds a lock on the file (proc_locks(5)), as a daemon does on its database. */
function isLocked({ device, inode }: Inode): boolean {
  return readFileSync("/proc/locks", "utf8").includes(` ${lockedFile(BigInt(device), BigInt(inode))} `);
}

/** Whether executors are there that were made in another directory, as in a copy without its store. */
async function hasOthersExecutors(stateDir: string): Promise<boolean> {
  return (await Executor.list(new Paths(stateDir).executors)).some(({ error }) => error?.code === "state-moved");
}
