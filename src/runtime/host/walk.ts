/**
 * A tree of directories, however deep or wide, step by step from directory to directory: no path becomes longer than PATH_MAX, at most three
 * descriptors are open, and nothing is put on the engine's stack. Others may change the tree meanwhile: no link is followed, no other file system
 * entered, and a branch that cannot be read or is gone is left out; the branches beside it are walked all the same.
 */
import * as host from "runt:host";
import { O } from "./system.ts";

/** A directory, valid while the walk is in it. */
export interface Place {
  /** A path that leads to it now, short however deep it is. It ends with the visit. */
  readonly path: string;
  /** 0: where the walk has begun. */
  readonly depth: number;
  /** Its whole path; as long as it is deep. */
  name(): string;
}

export interface Visitor {
  /** Before what is below. False: it is not looked at any further, and not left. */
  enter?(place: Place): boolean;
  /** After all that is below it. */
  leave?(place: Place): void;
  /** After `leave`, but for the first one: to reach it from the directory above. */
  left?(path: string): void;
  /** A directory in this one could not be entered. */
  missed?(place: Place, error: unknown): void;
}

interface Level {
  readonly name: string;
  readonly dev: bigint;
  readonly ino: bigint;
  /** Names of the directories in it that are still to be visited. */
  readonly below: string[];
}

const FLAGS = O.RDONLY | O.DIRECTORY | O.NOFOLLOW;
/** The longest walk: a process that makes directories faster than they are visited must not keep it going for ever. */
const LONGEST_MS = 10_000;

/** @throws HostError when `top` cannot be opened; an error with the code ETIMEDOUT after ten seconds */
export function walk(top: string, visitor: Visitor): void {
  const levels: Level[] = [];
  const deadline = host.monotonic() + LONGEST_MS;
  /** Of the innermost level. */
  let fd = -1;

  function placeAt(path: string): Place {
    const { length } = levels;
    const name = () =>
      levels
        .slice(0, length)
        .map((level) => level.name)
        .join("/");
    return { path, depth: length - 1, name };
  }

  /** Enter the directory behind this descriptor. False: nothing is below it, and it has been left again. */
  function begin(name: string, opened: number): boolean {
    const { dev, ino } = host.fstat(opened);
    if (levels.length > 0 && levels[0]!.dev !== dev) return false;
    const level: Level = { name, dev, ino, below: [] };
    levels.push(level);
    const place = placeAt(pathOf(opened));
    if (visitor.enter?.(place) === false) {
      levels.pop();
      return false;
    }
    attempt(place, () => level.below.push(...host.readdir(place.path, true)));
    if (level.below.length > 0 || levels.length === 1) return true;
    visitor.leave?.(place);
    levels.pop();
    visitor.left?.(`${pathOf(fd)}/${name}`);
    return false;
  }

  /** What fails of the kernel's is told, and the walk goes on. */
  function attempt<T>(place: Place, action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      if (!isHostError(error)) throw error;
      visitor.missed?.(place, error);
      return undefined;
    }
  }

  function descend(name: string): void {
    let other = attempt(placeAt(pathOf(fd)), () => host.openat(fd, name, FLAGS));
    if (other === undefined) return;
    try {
      if (begin(name, other)) [fd, other] = [other, fd];
    } finally {
      host.close(other);
    }
  }

  function end(): void {
    visitor.leave?.(placeAt(pathOf(fd)));
    const { name } = levels.pop()!;
    const { length } = levels;
    if (length === 0) return;
    if (!moveTo("..", length - 1)) findAgain();
    if (levels.length === length) visitor.left?.(`${pathOf(fd)}/${name}`);
  }

  /** Go on in this directory, if it is the one of that level. */
  function moveTo(name: string, index: number): boolean {
    const opened = openIf(index === 0 && name !== ".." ? undefined : fd, name);
    if (opened === undefined) return false;
    const { dev, ino } = host.fstat(opened);
    const isSame = levels[index]!.dev === dev && levels[index]!.ino === ino;
    host.close(isSame ? fd : opened);
    if (isSame) fd = opened;
    return isSame;
  }

  /** Somebody has moved or removed directories: to the innermost level that is still found on the way from the top. */
  function findAgain(): void {
    let found = 0;
    while (found < levels.length && moveTo(levels[found]!.name, found)) found++;
    levels.length = found;
    if (found > 0) visitor.missed?.(placeAt(pathOf(fd)), new Error("a directory has gone"));
  }

  fd = host.open(top, FLAGS);
  try {
    begin(top, fd);
    while (levels.length > 0) {
      if (host.monotonic() > deadline) throw Object.assign(new Error(`${top}: too many directories`), { code: "ETIMEDOUT" });
      const name = levels.at(-1)!.below.pop();
      if (name === undefined) end();
      else descend(name);
    }
  } finally {
    host.close(fd);
  }
}

/** The dot: attributes are asked of the directory, and not of the link. */
function pathOf(fd: number): string {
  return `/proc/self/fd/${fd}/.`;
}

function isHostError(error: unknown): boolean {
  return error instanceof Error && "errno" in error;
}

/** Below a directory, or by a path. */
function openIf(directory: number | undefined, name: string): number | undefined {
  try {
    return directory === undefined ? host.open(name, FLAGS) : host.openat(directory, name, FLAGS);
  } catch (error) {
    if (isHostError(error)) return undefined;
    throw error;
  }
}
