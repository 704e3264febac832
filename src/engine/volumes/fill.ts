/**
 * Fills a new volume with the files that the image has at the mount point, with owner and mode. The copy is made beside the volume, and moved into
 * it when it is complete. After a crash the volume is empty, or the next call completes it. A container that already uses the volume sees the files
 * appear.
 */
import { chmodSync, existsSync, lchownSync, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { outputOf } from "../../node/index.ts";
import { giveOwnDirectory } from "../own/index.ts";
import { isNewScratch, removeOther, removeScratch } from "./scratch.ts";

export interface Filling {
  /** The directory of the volume. */
  readonly volume: string;
  /** Directory for the copy, on the same file system. */
  readonly beside: string;
  /** Directory of the image whose content it gets. Nobody else may write to it. */
  readonly from: string;
  /** Host id as which user 0 of the files in `from` appears; 0: their ids are not mapped. The volume gets the ids without the mapping. */
  readonly first: number;
  readonly signal: AbortSignal;
}

/** Calls in progress by volume, so that two containers do not fill one volume at once. */
const turns = new Map<string, Promise<void>>();

/**
 * A volume that has files, or whose owner or mode somebody has changed, stays as it is.
 * @throws Error: the copy has failed; the reason of `signal`
 */
export async function fillVolume(filling: Filling): Promise<void> {
  const { volume } = filling;
  const before = turns.get(volume) ?? Promise.resolve();
  const own = before.then(() => fill(filling));
  const last = own.catch(() => {});
  turns.set(volume, last);
  try {
    await own;
  } finally {
    if (turns.get(volume) === last) turns.delete(volume);
  }
}

async function fill({ volume, beside, from, first, signal }: Filling): Promise<void> {
  signal.throwIfAborted();
  const [part, complete] = [join(beside, "part"), join(beside, "complete")];
  if (!existsSync(complete)) {
    await removeScratch(part);
    if (!isNewScratch(volume)) return;
    mkdirSync(part, { recursive: true, mode: 0o700 });
    // cp keeps hard links, holes, symbolic links and extended attributes, and opens no special files.
    await copy(`${from}/.`, part, signal);
    prepare(part, first);
    await run("sync", ["--file-system", part], signal);
    renameSync(part, complete);
  }
  move(complete, volume);
  rmdirSync(beside);
}

/** Removes the copy of an earlier volume of this name, which an interrupted call may have left. */
export async function forgetFilling(beside: string): Promise<void> {
  removeOther(beside);
  for (const name of ["part", "complete"]) await removeScratch(join(beside, name));
  if (existsSync(beside)) rmdirSync(beside);
}

/** May be repeated after a crash. */
function move(complete: string, volume: string): void {
  if (!lstatSync(volume).isDirectory()) throw new Error(`${volume} is not a directory`);
  for (const name of readdirSync(complete, { encoding: "buffer" })) renameSync(below(complete, name), below(volume, name));
  const { uid, gid, mode } = statSync(complete);
  giveOwnDirectory(volume, { mode: mode & 0o7777, owner: { uid, gid } });
  rmdirSync(complete);
}

/** Removes device nodes and sockets, which are useless in a copy. Maps owners back to ids from 0 on. */
function prepare(top: string, first: number): void {
  const open: Buffer[] = [Buffer.from(top)];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const found = lstatSync(path);
    if (found.isBlockDevice() || found.isCharacterDevice() || found.isSocket()) {
      unlinkSync(path);
      continue;
    }
    if (first > 0) lchown(path, found.uid - first, found.gid - first, found.isSymbolicLink() ? undefined : found.mode & 0o7777);
    if (found.isDirectory()) for (const name of readdirSync(path, { encoding: "buffer" })) open.push(below(path, name));
  }
}

/** A file with two hard links is visited twice. The second time its owner has been changed already, and the ids are negative. */
function lchown(path: Buffer, uid: number, gid: number, mode: number | undefined): void {
  if (uid < 0 || gid < 0) return;
  lchownSync(path, uid, gid);
  // chown(2) clears set-user-ID and set-group-ID.
  if (mode !== undefined) chmodSync(path, mode);
}

function below(directory: string | Buffer, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(directory), Buffer.from("/"), name]);
}

function copy(from: string, to: string, signal: AbortSignal): Promise<void> {
  return run("cp", ["--archive", "--reflink=auto", "--", from, to], signal);
}

/** @throws Error: its message; the reason of the signal, which kills it */
async function run(program: string, args: readonly string[], signal: AbortSignal): Promise<void> {
  try {
    await outputOf(program, args, { signal, timeoutMs: Number.POSITIVE_INFINITY });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
