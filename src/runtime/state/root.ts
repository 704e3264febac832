/** ROOT: whose it is, and making it. */
import type { Marking } from "../cgroup/index.ts";
import { RuntError, WORDS } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { defenceDisabled } from "../testing/index.ts";
import { markIfEmpty, markRoot } from "./mark.ts";
import { refuseOwner } from "./own.ts";
import type { StateRecord } from "./record.ts";

/** Write permission for others than the owner. */
const GROUP_AND_OTHERS = 0o022;
const OTHERS = 0o002;

/** Links of a directory that has no directories in it: its name and its dot. Where the file system does not count them it is one. */
const LINKS_OF_NONE = 2;

/** The root that has been looked at: a verb reads its record more than once. */
let known: { readonly root: string; readonly shared: boolean; readonly found: host.Stat; directory?: string } | undefined;

/**
 * A record names processes and cgroups that verbs signal and remove, so it must be the caller's or root's: ROOT belongs to one of them, and others
 * cannot replace what is in it. An absent ROOT has no records.
 * @throws RuntError state-root
 */
export function refuseForeignRoot(root: string, found = known?.root === root ? undefined : lookAtRoot(root)): void {
  if (!found) return;
  refuseOwner(root, found);
  if ((found.mode & OTHERS) !== 0 && (found.mode & host.S.ISVTX) === 0 && !defenceDisabled("state-root")) {
    throw new RuntError("state-root", `state directory ${root}: every user can write to it`);
  }
  known = { root, shared: (found.mode & GROUP_AND_OTHERS) !== 0, found };
}

/** Whether others can make something of their own in it (a sticky directory like /tmp, one of a group); of a root that was looked at. */
export function isSharedRoot(root: string): boolean {
  return known?.root === root && known.shared;
}

/** Which directory ROOT is, "DEVICE:INODE": the same path is another one in another mount namespace. undefined: there is none. */
export function rootDirectory(root: string): string | undefined {
  refuseForeignRoot(root);
  if (known?.root !== root) return undefined;
  known.directory ??= `${known.found.dev}:${known.found.ino}`;
  return known.directory;
}

/** By what the cgroup of a container below ROOT is known to be its own. */
export function markingOf(root: string, id: string): Marking {
  const directory = rootDirectory(root);
  return { root, id, ...(directory !== undefined && { directory }) };
}

/** Whether the container was made in another directory than ROOT, of which ROOT is a copy: what the record names is the other one's. */
export function isOfAnotherRoot(root: string, { directory }: Pick<StateRecord, "directory">): boolean {
  return directory !== undefined && directory !== rootDirectory(root);
}

/** The directory that ROOT leads to. Who has made a link has chosen that directory, so a link is the caller's or root's, too. */
export function lookAtRoot(root: string): host.Stat | undefined {
  const named = host.lstat(root);
  if (!named || (named.mode & host.S.IFMT) !== host.S.IFLNK) return named;
  refuseOwner(root, named);
  return host.stat(root);
}

/** Make ROOT, with its mark, and what is missing above it. One that somebody has made for runt gets the mark as long as it is empty. */
export function ensureRoot(root: string): void {
  const found = known?.root === root ? known.found : lookAtRoot(root);
  if (!found) {
    ensureAbove(root);
    if (makeDirectory(root)) markRoot(root);
    else adopt(root, lookAtRoot(root));
    return;
  }
  if ((found.mode & host.S.IFMT) !== host.S.IFDIR) throw new RuntError("state-root", `state directory ${root}: not a directory`);
  refuseForeignRoot(root, found);
  adopt(root, found);
}

/** Without a look into a root that has directories: those of containers, or of somebody else. */
function adopt(root: string, found: host.Stat | undefined): void {
  if (found && found.nlink <= LINKS_OF_NONE) markIfEmpty(root);
}

function ensureAbove(path: string): void {
  const parent = path.slice(0, path.lastIndexOf("/"));
  if (parent === "" || host.stat(parent)) return;
  ensureAbove(parent);
  makeDirectory(parent);
}

/** False: it was there. */
function makeDirectory(path: string): boolean {
  try {
    host.mkdir(path, 0o700);
    return true;
  } catch (error) {
    if (host.isErrno(error, "EEXIST")) return false;
    throw new RuntError("state-root", `state directory ${path}: ${host.reason(error)}`, {
      hint: "set XDG_RUNTIME_DIR, or name a directory with --root",
      cause: error,
    });
  }
}

const MAXIMUM_LENGTH = 1024;
/** Those of which an id is made: \w, +, -, and the dot. */
export const ID_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-.";

/** Without a regular expression: the first one of a start costs twenty microseconds. */
export function isId(text: string): boolean {
  const { length } = text;
  if (length === 0 || length > MAXIMUM_LENGTH || text === "." || text === "..") return false;
  for (let i = 0; i < length; i++) if (!ID_CHARACTERS.includes(text[i]!)) return false;
  return true;
}

/** The id that was found to be one last: a verb asks for the same one again and again. */
let checked: string | undefined;

/** Letters, digits, `_`, `+`, `-`, `.`; not `.` or `..` (runc's rule, so that ids move between runtimes). */
export function checkId(id: string): void {
  if (id === checked) return;
  if (!isId(id) && !defenceDisabled("container-id")) {
    throw new RuntError("id-invalid", `${WORDS.idFormat}: ${JSON.stringify(id)}`, {
      hint: "an id is made of letters, digits, '_', '+', '-' and '.'",
    });
  }
  checked = id;
}
