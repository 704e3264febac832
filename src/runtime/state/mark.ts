/**
 * The mark of a state root: runt made it, or was given it empty. Only there an empty directory can be what a killed `create` has left, and only
 * there something is removed that no sound record describes (remains.ts).
 */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { isOwner } from "./own.ts";

/** An extended attribute, whose value is the time. A user without rights on the host can write those of users only. */
const ATTRIBUTES = ["trusted.runt.root", "user.runt.root"];
/** Where the file system has no such attributes: a directory that no container id names. */
const DIRECTORY = "@runt";

/** @throws RuntError state-root */
export function markRoot(root: string): void {
  try {
    if (!ATTRIBUTES.some((name) => trySet(root, name))) host.tryMkdir(`${root}/${DIRECTORY}`, 0o700);
  } catch (error) {
    throw new RuntError("state-root", `state directory ${root}: ${host.reason(error)}`, { cause: error });
  }
}

/** One that somebody else has made for runt, as an engine does. With anything in it, it may be for something else as well. */
export function markIfEmpty(root: string): void {
  if (!isMarked(root) && host.readdir(root).length === 0) markRoot(root);
}

export function isMarked(root: string): boolean {
  if (markedAt(root) !== undefined) return true;
  const found = host.lstat(`${root}/${DIRECTORY}`);
  return found !== undefined && (found.mode & host.S.IFMT) === host.S.IFDIR && isOwner(found.uid);
}

/** When it was marked; undefined: it was not, or that is not known. */
export function markedAt(root: string): string | undefined {
  for (const name of ATTRIBUTES) {
    const value = attribute(root, name);
    if (typeof value === "string") return value;
  }
  return undefined;
}

/** Remove a root that has nothing in it but its mark. */
export function removeRoot(root: string): void {
  try {
    host.rmdir(`${root}/${DIRECTORY}`);
  } catch (error) {
    if (!host.isErrno(error, "ENOENT")) throw error;
  }
  host.rmdir(root);
}

function trySet(root: string, name: string): boolean {
  try {
    host.setxattr(behind(root), name, timestamp());
    return true;
  } catch (error) {
    if (host.isErrno(error, "EPERM", "EOPNOTSUPP", "EACCES")) return false;
    throw error;
  }
}

function attribute(root: string, name: string): string | null | undefined {
  try {
    return host.getxattr(behind(root), name);
  } catch (error) {
    if (error instanceof Error && "errno" in error) return undefined;
    throw error;
  }
}

/** The root may be a link, and attributes are not asked of what a link leads to. */
function behind(root: string): string {
  return `${root}/.`;
}

/** Now, by RFC 3339 with nanoseconds, UTC: texts of it are in the order of time. */
export function timestamp(): string {
  const { seconds, nanoseconds } = host.now();
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(nanoseconds).padStart(9, "0")}Z`;
}
