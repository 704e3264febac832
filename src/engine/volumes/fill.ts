/**
 * Gives a new volume what an image has at its place, with owner and mode. The copy is made beside the volume, and moved into it when it is complete: a crash leaves a
 * volume that is empty, or one that the next call completes. Whoever has the volume already sees the files come.
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
  /** Id of the host that is 0 for the users of the image's files; 0: they have the users of the host. */
  readonly first: number;
  readonly signal: AbortSignal;
}

/** What is being filled, so that two containers do not fill one volume at once. */
const turns = new Map<string, Promise<void>>();

/** A volume that has files, or whose owner or mode somebody has changed, stays as it is. @throws Error: the copy has failed; the reason of `signal` */
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
    // With hard links, holes, links as links, and extended attributes; nothing that is a special file is opened.
    await copy(`${from}/.`, part, signal);
    prepare(part, first);
    await run("sync", ["--file-system", part], signal);
    renameSync(part, complete);
  }
  move(complete, volume);
  rmdirSync(beside);
}

/** Forgets a copy that a crash has left of an earlier volume of this name. */
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

/** Devices of an image open nothing, and its sockets lead nowhere: they are left out. The files get the users of the host. */
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

/** A file with two names is there once only, and has its owner from the first of them. */
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
