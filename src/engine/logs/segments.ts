/** The files of a log: the current one and the rotated ones. They are identified by inode, because rotation changes their names. */
import { closeSync, constants, existsSync, fstatSync, openSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { removeOwnFile } from "../../node/index.ts";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

export interface Segment {
  readonly fd: number;
  readonly inode: bigint;
}

function nameOf(path: string, number: number): string {
  return number === 0 ? path : `${path}.${number}`;
}

/** undefined if there is no regular file of this name. Links are not followed, and a FIFO does not block. */
function openSegment(path: string): Segment | undefined {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    if (["ENOENT", "ELOOP", "ENXIO"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
  const found = fstatSync(fd, { bigint: true });
  if (found.isFile()) return { fd, inode: found.ino };
  closeSync(fd);
  return undefined;
}

export function closeSegments(segments: readonly Segment[]): void {
  for (const { fd } of segments) closeSync(fd);
}

/** Opens all segments, the oldest first. A rotation during the call renames files, so that a file may be found twice. It is returned once. */
export function openSegments(path: string): Segment[] {
  const segments: Segment[] = [];
  for (let number = 0; ; number++) {
    const segment = openSegment(nameOf(path, number));
    // The current file is missing only for a moment during a rotation, so that its absence does not end the search.
    if (segment === undefined && number > 0) return segments;
    if (segment === undefined) continue;
    if (segments.some(({ inode }) => inode === segment.inode)) closeSync(segment.fd);
    else segments.unshift(segment);
  }
}

export interface Newer {
  readonly segments: readonly Segment[];
  /** Whether files between the two were rotated away. */
  readonly isGap: boolean;
}

/** The segments that were started after an open one; empty while that one is still the current file. */
export function newerThan(path: string, { inode }: Segment): Newer {
  if (statSync(path, { bigint: true, throwIfNoEntry: false })?.ino === inode) return { segments: [], isGap: false };
  const all = openSegments(path);
  const index = all.findIndex((one) => one.inode === inode);
  closeSegments(all.slice(0, index + 1));
  return { segments: all.slice(index + 1), isGap: index === -1 };
}

/** The logs of a container's incarnations, BASE.GENERATION.log each. The current one and the one before it are kept. */
const LOG = /^(.*)\.(\d+)\.log$/;
const FILE = /^(.*)\.(\d+)\.log(?:\.\d+)?$/;

/** Path of the previous incarnation's log; undefined: there is none. @param path log of an incarnation */
export function previousLog(path: string): string | undefined {
  const [, base, generation] = LOG.exec(basename(path)) ?? [];
  if (base === undefined) return undefined;
  const previous = join(dirname(path), `${base}.${Number(generation) - 1}.log`);
  return existsSync(previous) ? previous : undefined;
}

/** Removes the logs of older incarnations, including rotated files, before a new incarnation starts. Keeps the last one. */
export function pruneLogs(path: string): void {
  const [, base, generation] = LOG.exec(basename(path)) ?? [];
  for (const name of readdirSync(dirname(path))) {
    const [, ofBase, ofGeneration] = FILE.exec(name) ?? [];
    if (base !== undefined && ofBase === base && Number(ofGeneration) < Number(generation) - 1) removeOwnFile(join(dirname(path), name));
  }
}
