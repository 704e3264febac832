/** Files below ROOT/ID: opened without following a link, and looked at by descriptor; made beside whatever has their name. */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { walk } from "../host/index.ts";
import { defenceDisabled } from "../testing/index.ts";

/** Open a FIFO. @throws RuntError state-unreadable when something else has its name, HostError */
export function openFifo(path: string, flags: number): number {
  return openOwn(path, flags, host.S.IFIFO);
}

/** Open a file for reading. @throws RuntError state-unreadable when something else has its name, HostError */
export function openFile(path: string): number {
  return openOwn(path, host.O.RDONLY | host.O.NONBLOCK, host.S.IFREG);
}

function openOwn(path: string, flags: number, type: number): number {
  if (defenceDisabled("state-entry")) return host.open(path, flags);
  let fd: number;
  try {
    fd = host.open(path, flags | host.O.NOFOLLOW | host.O.NOCTTY);
  } catch (error) {
    if (host.isErrno(error, "ELOOP")) throw another(path, error);
    throw error;
  }
  const { mode, uid } = host.fstat(fd);
  if ((mode & host.S.IFMT) === type && isOwner(uid)) return fd;
  host.close(fd);
  throw another(path);
}

function another(path: string, cause?: unknown): RuntError {
  return new RuntError("state-unreadable", `${path}: something else is in the place of what create has made`, { cause });
}

/** Write a new file. What has its name is removed, and never opened: a verb that was killed has left it, or somebody else. */
export function writeNew(path: string, text: string): void {
  const flags = host.O.WRONLY | host.O.CREAT | (defenceDisabled("state-entry") ? host.O.TRUNC : host.O.EXCL | host.O.NOFOLLOW);
  try {
    host.writeFile(path, text, flags, 0o600);
  } catch (error) {
    if (!host.isErrno(error, "EEXIST")) throw error;
    host.unlink(path);
    host.writeFile(path, text, flags, 0o600);
  }
}

/** Whose something below a state root is. Whether this user is the caller or root. */
export function isOwner(uid: number): boolean {
  return uid === 0 || uid === host.geteuid();
}

/** @throws RuntError state-root */
export function refuseOwner(path: string, { uid }: host.Stat): void {
  if (isOwner(uid) || defenceDisabled("state-root")) return;
  throw new RuntError("state-root", `state directory ${path}: it belongs to the user ${uid}`);
}

/**
 * Remove a directory of a container's state and all in it. A privileged container may have written to it, and may still do so, so
 * nothing is reached by a path that it could change: a link instead of a directory is removed, and not followed.
 */
export function removeTree(path: string): void {
  let failure: unknown;
  walk(path, {
    enter({ path: directory }) {
      removeFiles(directory);
      return true;
    },
    left: (directory) => {
      try {
        host.rmdir(directory);
      } catch (error) {
        failure ??= error;
      }
    },
    missed: (_, error) => {
      failure ??= error;
    },
  });
  try {
    host.rmdir(path);
  } catch (error) {
    throw failure ?? error;
  }
}

function removeFiles(directory: string): void {
  for (const name of host.readdir(directory)) {
    const path = `${directory}/${name}`;
    if ((host.lstat(path)?.mode ?? 0) >> 12 !== 4) host.unlink(path);
  }
}
