/** What may be removed below a state root although no sound record says what it is: only what is proven to be runt's. */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { defenceDisabled } from "../testing/index.ts";
import { isMarked } from "./mark.ts";
import { isOwner } from "./own.ts";
import { checkRecord, parseRecord } from "./record.ts";
import { containerDirectory, removeDirectory } from "./store.ts";

/** The record, and what it is called until it is whole. */
const RECORDS = ["state.json", "state.json.new"];
/** The mode of ROOT/ID, which the umask may have narrowed. */
const MODE = 0o711;

/**
 * Remove ROOT/ID of a container whose record is missing or damaged. The caller has its lock. A link in its place is removed itself, as runc does.
 * @param isHeld the caller has inherited the descriptor of the directory from the `create` that made it, so it is runt's whatever is left in it
 * @throws RuntError state-foreign: nothing proves that it is runt's, and nothing was removed
 */
export function removeRemains(root: string, id: string, isHeld = false): void {
  const reason = isHeld ? undefined : notOurs(root, id);
  const path = containerDirectory(root, id);
  if (reason !== undefined) {
    throw new RuntError("state-foreign", `${path}: ${reason}; nothing was removed`, {
      hint: "is that the right --root? what is not runt's, you can remove yourself",
    });
  }
  if (typeOf(host.lstat(path)) === host.S.IFLNK && !defenceDisabled("state-entry")) host.unlink(path);
  else removeDirectory(root, id);
}

/** Why nothing proves that ROOT/ID is runt's; undefined: it is. Of a directory that is there. */
export function notOurs(root: string, id: string): string | undefined {
  if (defenceDisabled("state-mark")) return undefined;
  const path = containerDirectory(root, id);
  const found = host.lstat(path);
  const type = typeOf(found);
  if (found && !isOwner(found.uid)) return `it belongs to the user ${found.uid}`;
  if (type === host.S.IFLNK) return isRoot(root) ? undefined : `it is a symbolic link, and ${NO_MARK}`;
  if (type !== host.S.IFDIR) return "it is not a directory";
  if (hasOwnRecord(root, id)) return undefined;
  const names = host.readdir(path);
  const isLikely = names.length === 0 || RECORDS.some((name) => names.includes(name));
  if (!isLikely) return "nothing in it is of runt's";
  return isRoot(root) ? undefined : `${names.length === 0 ? "it is empty" : "its record is not runt's"}, and ${NO_MARK}`;
}

const NO_MARK = "the state directory has no mark of runt's";

/** What killed processes were about to put into the cache of filters: FILE.PID. None in a directory that others can have written to. */
export function halfWrittenFilters(root: string): readonly string[] {
  const directory = `${root}/@cache/seccomp`;
  if (![`${root}/@cache`, directory].every(isPrivateDirectory)) return [];
  return host
    .readdir(directory)
    .filter((name) => /\.\d+$/.test(name) && !host.procStat(Number(name.slice(name.lastIndexOf(".") + 1))))
    .map((name) => `${directory}/${name}`);
}

function isPrivateDirectory(path: string): boolean {
  const found = host.lstat(path);
  return found !== undefined && isOwner(found.uid) && (found.mode & ~0o7700) === host.S.IFDIR;
}

function isRoot(root: string): boolean {
  return isMarked(root) || isOlderRoot(root);
}

/** A root that a runt without marks has made: all that is in it is runt's, and something of it proves that. */
function isOlderRoot(root: string): boolean {
  let isProven = false;
  for (const name of host.readdir(root)) {
    const found = host.lstat(`${root}/${name}`);
    if (!found || typeOf(found) !== host.S.IFDIR || !isOwner(found.uid)) return false;
    if (name === "@cache" || hasOwnRecord(root, name)) isProven = true;
    else if ((found.mode & 0o7777 & ~MODE) !== 0 || host.readdir(`${root}/${name}`).length > 0) return false;
  }
  return isProven;
}

function hasOwnRecord(root: string, id: string): boolean {
  return RECORDS.some((name) => isRecordOf(`${root}/${id}/${name}`, id));
}

/** Also one of a newer runt: that is removed by that runt only, but it is one. */
function isRecordOf(path: string, id: string): boolean {
  try {
    return checkRecord(parseRecord(host.readOwn(path), path), path).id === id;
  } catch (error) {
    if (error instanceof RuntError) return error.code === "state-version";
    if (error instanceof Error && "errno" in error) return false;
    throw error;
  }
}

function typeOf(found: host.Stat | undefined): number {
  return (found?.mode ?? 0) & host.S.IFMT;
}
