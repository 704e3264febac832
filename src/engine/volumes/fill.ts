/**
 * Fills a new volume with the files that the image has at the mount point, with owner and mode. The copy is made beside the volume, and moved into
 * it when it is complete, if the volume is still new then. After a crash the volume is empty, or the next call completes it. A container that already
 * uses the volume sees the files appear. What another container has written meanwhile stays, and keeps its name.
 */
import {
  chmodSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  type Stats,
  statSync,
  unlinkSync,
} from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { outputOf } from "../../node/index.ts";
import { giveOwnDirectory, slices } from "../own/index.ts";
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

/** The names of the copy: while it is made, when it is whole, and from the last look at the volume on, while its entries are moved. */
const STAGES = ["part", "complete", "moving"] as const;

async function fill({ volume, beside, from, first, signal }: Filling): Promise<void> {
  signal.throwIfAborted();
  const [part, complete, moving] = STAGES.map((name) => join(beside, name)) as [string, string, string];
  if (!existsSync(moving)) {
    if (!existsSync(complete)) {
      await removeScratch(part);
      if (!isNewScratch(volume)) return forgetFilling(beside);
      mkdirSync(part, { recursive: true, mode: 0o700 });
      // cp keeps hard links, holes, symbolic links and extended attributes, and opens no special files.
      await copy(`${from}/.`, part, signal);
      await prepare(part, first, signal);
      await run("sync", ["--file-system", part], signal);
      renameSync(part, complete);
    }
    // Another container may have written, or taken the volume, while the copy was made.
    if (!isNewScratch(volume)) return forgetFilling(beside);
    renameSync(complete, moving);
  }
  await move(moving, volume);
  await forgetFilling(beside);
}

/** Removes the copy of an earlier volume of this name, which an interrupted call may have left. */
export async function forgetFilling(beside: string): Promise<void> {
  removeOther(beside);
  for (const name of STAGES) await removeScratch(join(beside, name));
  if (existsSync(beside)) rmdirSync(beside);
}

/** May be repeated after a crash. What is left in `moving` has a name that somebody else has taken. */
async function move(moving: string, volume: string): Promise<void> {
  if (!lstatSync(volume).isDirectory()) throw new Error(`${volume} is not a directory`);
  const { uid, gid, mode } = statSync(moving);
  // Before the entries: from then on the volume is not new any more, for whoever looks.
  if (isNewScratch(volume)) giveOwnDirectory(volume, { mode: mode & 0o7777, owner: { uid, gid } });
  const turn = slices();
  for (const name of await namesIn(moving)) {
    moveNew(below(moving, name), below(volume, name));
    await turn();
  }
}

/** Mode of a directory that is replaced at once by the one that gets its name. No program makes such a directory: if it is there, a crash has left it. */
const PLACE = 0o1000;

/** rename(2) that replaces nothing: an entry that is there stays. */
function moveNew(from: Buffer, to: Buffer): void {
  const found = lstatSync(from);
  if (found.isDirectory()) {
    if (!isPlaced(to)) return;
    // An empty directory is replaced by it, and nothing else.
    ignoring(["ENOTEMPTY", "EEXIST", "ENOTDIR"], () => renameSync(from, to));
  } else if (ignoring(["EEXIST"], () => linkOrRename(from, to)) || isSame(found, lstatSync(to, { throwIfNoEntry: false }))) {
    // After a crash between the two both names may be there.
    ignoring(["ENOENT"], () => unlinkSync(from));
  }
}

function isPlaced(to: Buffer): boolean {
  if (ignoring(["EEXIST"], () => mkdirSync(to, { mode: PLACE }))) return true;
  const { uid, mode } = lstatSync(to);
  return uid === process.geteuid?.() && (mode & 0o7777) === PLACE;
}

/** Not every file system has links, and a file may have as many as there can be. */
function linkOrRename(from: Buffer, to: Buffer): void {
  if (ignoring(["EPERM", "EMLINK", "EOPNOTSUPP"], () => linkSync(from, to))) return;
  if (lstatSync(to, { throwIfNoEntry: false }) === undefined) renameSync(from, to);
}

function isSame({ dev, ino }: Stats, other: Stats | undefined): boolean {
  return other !== undefined && other.dev === dev && other.ino === ino;
}

/** False: it has failed with one of these errors. */
function ignoring(codes: readonly string[], action: () => void): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return false;
  }
}

/** Removes device nodes and sockets, which are useless in a copy. Maps owners back to ids from 0 on. @throws the reason of `signal` */
async function prepare(top: string, first: number, signal: AbortSignal): Promise<void> {
  const turn = slices();
  const open: Buffer[] = [Buffer.from(top)];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    await turn();
    signal.throwIfAborted();
    const found = lstatSync(path);
    if (found.isBlockDevice() || found.isCharacterDevice() || found.isSocket()) {
      unlinkSync(path);
      continue;
    }
    if (first > 0) lchown(path, found.uid - first, found.gid - first, found.isSymbolicLink() ? undefined : found.mode & 0o7777);
    if (found.isDirectory()) for (const name of await namesIn(path)) open.push(below(path, name));
  }
}

/** So many names are read at once. */
const NAMES_AT_ONCE = 128;

/** All names, before anything in the directory is changed. An image may have very many in one directory, so other work goes on meanwhile. */
async function namesIn(directory: string | Buffer): Promise<Buffer[]> {
  const names: Buffer[] = [];
  // Node's types lack paths and names as bytes.
  const options = { encoding: "buffer" as BufferEncoding, bufferSize: NAMES_AT_ONCE };
  const entries = (await opendir(directory as string, options)) as unknown as AsyncIterable<{ readonly name: Buffer }>;
  for await (const { name } of entries) names.push(name);
  return names;
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
