/** The state directory: ROOT/ID/{state.json,config.json,exec.fifo}. ROOT is 0700, ROOT/ID 0711, state.json 0600. */
import { RuntError, WORDS } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { defenceDisabled } from "../testing/index.ts";
import { locked } from "./holders.ts";
import { refuseOwner, removeTree, writeNew } from "./own.ts";
import {
  type AnyRecord,
  checkRecord,
  isCurrent,
  migrate,
  parseRecord,
  STATE_MINOR,
  type StateRecord,
  type StateSummary,
  serializeRecord,
} from "./record.ts";
import { checkId, ensureRoot, ID_CHARACTERS, isOfAnotherRoot, isSharedRoot, lookAtRoot, refuseForeignRoot } from "./root.ts";

const RECORD = "state.json";
/** A directory without a record lasts for some system calls of a verb that holds the lock, or is about to; or for ever. */
const PAUSE_MS = 2;
const LOCKED_ATTEMPTS = 500;
const FREE_ATTEMPTS = 10;

/** Throws "id-invalid": an id is one path component of a known alphabet. */
export function containerDirectory(root: string, id: string): string {
  checkId(id);
  return `${root}/${id}`;
}

/**
 * ROOT/ID is a directory, and no link to one. Where others can make something of their own beside it, it is the caller's or root's, too. One that is
 * absent has no record. Verbs that take its lock look at what they have opened instead (lockWithin).
 * @throws RuntError state-root, state-foreign
 */
function refuseForeign(root: string, id: string): void {
  refuseForeignRoot(root);
  const directory = containerDirectory(root, id);
  const own = host.lstat(directory);
  if (!own) return;
  if (isSharedRoot(root)) refuseOwner(directory, own);
  if ((own.mode & host.S.IFMT) !== host.S.IFDIR && !defenceDisabled("state-entry")) throw noDirectory(directory, own);
}

function noDirectory(directory: string, found: host.Stat | undefined): RuntError {
  const what = ((found?.mode ?? 0) & host.S.IFMT) === host.S.IFLNK ? "it is a symbolic link" : "it is not a directory";
  return new RuntError("state-foreign", `${directory}: ${what}, so it is no container`);
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
  let fd: number;
  let taken: host.Stat | undefined;
  try {
    fd = lock(directory);
    taken = host.lstat(`${directory}/state.json`);
  } catch (error) {
    removeEmpty(directory);
    throw error;
  }
  // Between the two a forced delete has taken the directory for remains, and another create has made and locked its own.
  if (taken) throw new RuntError("id-exists", `${WORDS.idInUse}: ${id}`);
  return fd;
}

/** A directory that is not empty belongs to another create, and stays. */
function removeEmpty(directory: string): void {
  try {
    host.rmdir(directory);
  } catch (error) {
    if (!host.isErrno(error, "ENOENT", "ENOTEMPTY")) throw error;
  }
}

/** How long a verb waits for another one that works on the same container (docs/troubleshooting.md). */
const LOCK_MS = 10_000;

/**
 * Lock ROOT/ID against other verbs; waits for a bounded time. The lock ends when the descriptor is closed or the process ends.
 * @throws RuntError id-unknown when whoever held it has removed the container, id-locked when whoever holds it goes on for too long
 */
export function lock(directory: string): number {
  const fd = lockWithin(directory, LOCK_MS);
  if (fd === undefined) throw locked(directory, LOCK_MS);
  return fd;
}

/** undefined: after so many milliseconds somebody else still holds it. @throws RuntError id-unknown */
export function lockWithin(directory: string, milliseconds: number): number | undefined {
  for (;;) {
    const fd = openDirectory(directory);
    refuseForeignRoot(directory.slice(0, directory.lastIndexOf("/")));
    const held = host.fstat(fd);
    refuseOwner(directory, held);
    const taken = host.flock(fd, host.LOCK.EX, milliseconds);
    // A container of the same id may have been made meanwhile: it has another lock.
    const isSame = isBehind(directory, held);
    if (taken && isSame) return fd;
    host.close(fd);
    if (isSame) return undefined;
  }
}

/** Whether the descriptor is of what stands there now. */
function isDirectoryOf(fd: number, directory: string): boolean {
  return isBehind(directory, host.fstat(fd));
}

function isBehind(directory: string, held: host.Stat): boolean {
  const named = defenceDisabled("state-entry") ? host.stat(directory) : host.lstat(directory);
  return named?.ino === held.ino && named.dev === held.dev;
}

function openDirectory(directory: string): number {
  try {
    return host.open(directory, host.O.RDONLY | host.O.DIRECTORY | (defenceDisabled("state-entry") ? 0 : host.O.NOFOLLOW));
  } catch (error) {
    // Both are said of a link.
    if (host.isErrno(error, "ENOTDIR", "ELOOP")) throw noDirectory(directory, host.lstat(directory));
    if (!host.isErrno(error, "ENOENT")) throw error;
    throw new RuntError("id-unknown", `${WORDS.doesNotExist}: ${directory.slice(directory.lastIndexOf("/") + 1)}`);
  }
}

/** True while another verb holds the lock. */
export function isLocked(directory: string): boolean {
  const fd = openDirectory(directory);
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

/** The first half of writeRecord: the new file does not have the record's name yet. */
export function stageRecord(root: string, record: StateRecord): void {
  writeNew(`${containerDirectory(root, record.id)}/state.json.new`, serializeRecord(record));
}

export function publishRecord(root: string, id: string): void {
  const path = `${containerDirectory(root, id)}/state.json`;
  host.rename(`${path}.new`, path);
}

/** config.json as the container was made from it, for `inspect` and `diff`: the bundle's own may have changed since. */
export function keepConfig(root: string, id: string, text: string): void {
  host.writeFile(configPath(root, id), text, host.O.WRONLY | host.O.CREAT | host.O.EXCL | host.O.NOFOLLOW, 0o600);
}

export function configPath(root: string, id: string): string {
  return `${containerDirectory(root, id)}/config.json`;
}

/** Errors of a file that is no record. Any other error (EMFILE, EIO) says nothing about the file, which must not count as lost. */
const DAMAGE = ["EILSEQ", "EFBIG", "EINVAL", "EISDIR", "ELOOP", "ENXIO"];

/**
 * Throws "id-unknown" when there is no such directory, "state-unreadable" when its record is damaged or missing, and "state-version" when it is
 * of a newer schema, "state-root" when it may be another user's, "state-moved" when it is a copy and the container lives. `locked`: by this verb itself, so nobody else is making or removing it.
 */
export function readRecord(root: string, id: string, locked = false): StateRecord {
  return refuseMoved(root, readWith(recordAt, root, id, locked));
}

/** What lives belongs to the root that has made it. @throws RuntError state-moved */
export function refuseMoved<T extends StateSummary & Pick<StateRecord, "directory">>(root: string, record: T): T {
  if (!isOfAnotherRoot(root, record) || !host.runningState(record.pid, record.startTime)) return record;
  throw new RuntError("state-moved", `container ${record.id} was made in another state root, of which ${root} is a copy, and it runs`, {
    hint: "use the root in which it was made; of the copy, you can remove the directory yourself",
  });
}

/**
 * The record as it is under the lock, for a verb that has read it before and holds the lock now.
 * @throws RuntError id-unknown when that container has gone: the directory may be of a create that has only begun. Else as readRecord
 */
export function readAgain(root: string, id: string): StateRecord {
  try {
    return readRecord(root, id, true);
  } catch (error) {
    if (host.lstat(`${containerDirectory(root, id)}/${RECORD}`)) throw error;
    throw new RuntError("id-unknown", `${WORDS.doesNotExist}: ${id}`);
  }
}

export function recordAt(path: string): AnyRecord {
  return parseRecord(host.readOwn(path), path);
}

/** The same with another way to read: what it throws of the host is told by the same words. */
export function readWith(read: (path: string) => AnyRecord, root: string, id: string, locked: boolean, again = 0): StateRecord {
  const path = `${containerDirectory(root, id)}/${RECORD}`;
  if (!locked) refuseForeign(root, id);
  let record: AnyRecord;
  try {
    record = read(path);
  } catch (error) {
    if (error instanceof RuntError) throw error;
    if (!host.isErrno(error, "ENOENT")) {
      throw new RuntError(host.isErrno(error, ...DAMAGE) ? "state-unreadable" : "system", `${path}: ${host.reason(error)}`, {
        cause: error,
      });
    }
    if (!host.lstat(containerDirectory(root, id))) throw new RuntError("id-unknown", `${WORDS.doesNotExist}: ${id}`);
    awaitRecord(path, containerDirectory(root, id), locked);
    // A device without a driver is there, and cannot be opened.
    if (again === LOCKED_ATTEMPTS) throw new RuntError("state-unreadable", `${path}: ${host.reason(error)}`, { cause: error });
    return readWith(read, root, id, locked, again + 1);
  }
  const sound = checkRecord(isCurrent(record) ? record : migrate(record, STATE_MINOR), path);
  // A copy under another name: what it names is another container's.
  if (sound.id !== id) throw new RuntError("state-unreadable", `${path}: it is the record of another container (${sound.id})`);
  return sound;
}

/** Waits until the record exists or the directory is gone. @throws RuntError state-unreadable when that does not come */
function awaitRecord(path: string, directory: string, locked: boolean): void {
  for (let attempt = 1; host.lstat(directory) && !host.lstat(path); attempt++) {
    if (locked || attempt > (isLocked(directory) ? LOCKED_ATTEMPTS : FREE_ATTEMPTS)) {
      throw new RuntError("state-unreadable", `${path}: no such file`);
    }
    host.sleep(PAUSE_MS);
  }
}

/** Ids found below ROOT, sorted; none when ROOT is absent. @throws RuntError state-root. What is no id (`@cache`) is no container. */
export function listIds(root: string): string[] {
  const found = lookAtRoot(root);
  if (!found) return [];
  refuseForeignRoot(root, found);
  return host.readdir(root, true, ID_CHARACTERS);
}

/** Remove ROOT/ID and all that is in it, the record last: as long as anything is left, it is known what it was. */
export function removeDirectory(root: string, id: string): void {
  const directory = containerDirectory(root, id);
  if (!host.lstat(directory)) return;
  // The monitor of a container that ends in this moment removes the same, without the lock.
  ifThere(() => {
    const names = host.readdir(directory);
    for (const name of [...names.filter((each) => each !== RECORD), ...names.filter((each) => each === RECORD)]) {
      const path = `${directory}/${name}`;
      if ((host.lstat(path)?.mode ?? 0) >> 12 === 4) removeTree(path);
      else ifThere(() => host.unlink(path));
    }
    host.rmdir(directory);
  });
}

function ifThere(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    if (!host.isErrno(error, "ENOENT")) throw error;
  }
}

/**
 * Takes the lock again that `fd` has released. False: the container was removed meanwhile, and the id may belong to another one.
 * @throws RuntError id-locked
 */
export function lockAgain(fd: number, directory: string): boolean {
  const taken = host.flock(fd, host.LOCK.EX, LOCK_MS);
  if (!isDirectoryOf(fd, directory)) return false;
  if (!taken) throw locked(directory, LOCK_MS);
  return true;
}
