/** The state directory: ROOT/ID/{state.json,config.json,exec.fifo}. ROOT is 0700, ROOT/ID 0711, state.json 0600. */
import { RuntError, WORDS } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { loadedNow } from "../host/lazy.ts";
import { checkId, isId } from "./id.ts";
import type * as migration from "./migrate.ts";
import { checkRecord, isCurrent, parseRecord, STATE_MINOR, type StateRecord, serializeRecord } from "./record.ts";

/** Throws "id-invalid": an id is one path component of a known alphabet. */
export function containerDirectory(root: string, id: string): string {
  checkId(id);
  return `${root}/${id}`;
}

/** Make ROOT (and what is missing above it). */
export function ensureRoot(root: string): void {
  if (host.stat(root)) return;
  const parent = root.slice(0, root.lastIndexOf("/"));
  if (parent !== "") ensureRoot(parent);
  try {
    host.mkdir(root, 0o700);
  } catch (error) {
    if (host.isErrno(error, "EEXIST")) return;
    throw new RuntError("state-root", `state directory ${root}: ${host.reason(error)}`, { cause: error });
  }
}

/** Throws "id-exists" early, for a clearer error than what else is wrong then; `reserve` is what decides. */
export function refuseExisting(root: string, id: string): void {
  if (host.lstat(containerDirectory(root, id))) throw new RuntError("id-exists", `${WORDS.idInUse}: ${id}`);
}

/** Make ROOT/ID exclusively and lock it. Returns the descriptor that holds the lock. */
export function reserve(root: string, id: string): number {
  ensureRoot(root);
  const directory = containerDirectory(root, id);
  try {
    host.mkdir(directory, 0o711);
  } catch (error) {
    if (host.isErrno(error, "EEXIST")) throw new RuntError("id-exists", `${WORDS.idInUse}: ${id}`);
    throw new RuntError("state-root", `state directory ${directory}: ${host.reason(error)}`, { cause: error });
  }
  return lock(directory);
}

/** Lock ROOT/ID against other verbs; waits. The lock ends when the descriptor is closed or the process ends. */
export function lock(directory: string): number {
  const fd = host.open(directory, host.O.RDONLY | host.O.DIRECTORY);
  host.flock(fd, host.LOCK.EX);
  return fd;
}

/** True while another verb holds the lock. */
export function isLocked(directory: string): boolean {
  const fd = host.open(directory, host.O.RDONLY | host.O.DIRECTORY);
  try {
    return !host.flock(fd, host.LOCK.SH | host.LOCK.NB);
  } finally {
    host.close(fd);
  }
}

/** Temp file and rename: readers see the old record or the new one. */
export function writeRecord(root: string, record: StateRecord): void {
  stageRecord(root, record);
  publishRecord(root, record.id);
}

/** The first half of writeRecord: nobody sees it yet. */
export function stageRecord(root: string, record: StateRecord): void {
  const path = `${containerDirectory(root, record.id)}/state.json.new`;
  host.writeFile(path, serializeRecord(record), host.O.WRONLY | host.O.CREAT | host.O.TRUNC, 0o600);
}

export function publishRecord(root: string, id: string): void {
  const path = `${containerDirectory(root, id)}/state.json`;
  host.rename(`${path}.new`, path);
}

/** config.json as the container was made from it, for `inspect` and `diff`: the bundle's own may have changed since. */
export function keepConfig(root: string, id: string, text: string): void {
  host.writeFile(configPath(root, id), text, host.O.WRONLY | host.O.CREAT | host.O.EXCL, 0o600);
}

export function configPath(root: string, id: string): string {
  return `${containerDirectory(root, id)}/config.json`;
}

/**
 * Throws "id-unknown" when there is no such directory, "state-unreadable" when its record is damaged or missing, and "state-version" when it is
 * of a newer schema.
 */
export function readRecord(root: string, id: string): StateRecord {
  const path = `${containerDirectory(root, id)}/state.json`;
  let text: string;
  try {
    text = host.readFile(path);
  } catch (error) {
    if (!host.isErrno(error, "ENOENT")) throw new RuntError("state-unreadable", `${path}: ${host.reason(error)}`, { cause: error });
    if (host.stat(containerDirectory(root, id))) throw new RuntError("state-unreadable", `${path}: no such file`);
    throw new RuntError("id-unknown", `${WORDS.doesNotExist}: ${id}`);
  }
  const record = parseRecord(text, path);
  return checkRecord(isCurrent(record) ? record : migrations().migrate(record, STATE_MINOR), path);
}

/** For a container that an older build has made. */
function migrations(): typeof migration {
  return loadedNow(import("./migrate.ts"));
}

/** Ids found below ROOT, sorted; none when ROOT is absent. What is no id (`@cache`) is no container. */
export function listIds(root: string): string[] {
  if (!host.stat(root)) return [];
  return host
    .readdir(root)
    .filter((name) => isId(name) && (host.stat(`${root}/${name}`)?.mode ?? 0) >> 12 === 4)
    .sort();
}

/** Remove ROOT/ID and all that is in it. */
export function removeDirectory(root: string, id: string): void {
  const directory = containerDirectory(root, id);
  if (!host.stat(directory)) return;
  for (const name of host.readdir(directory)) {
    const path = `${directory}/${name}`;
    if ((host.lstat(path)?.mode ?? 0) >> 12 === 4) loadedNow(import("./tree.ts")).removeTree(path);
    else host.unlink(path);
  }
  host.rmdir(directory);
}
