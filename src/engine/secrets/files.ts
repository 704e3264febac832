/** Writes the secrets of one incarnation to files in a tmpfs of its own, which is removed with it. */
import { closeSync, existsSync, lchownSync, lstatSync, readdirSync, readFileSync, rmdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { writeOwnFile } from "../../node/index.ts";
import { giveOwnDirectory, makeOwnDirectory, openOwnFile } from "../own/index.ts";
import { mountMemory, unmountMemory } from "../volumes/index.ts";
import { readSecret, SecretError, type SecretSource } from "./read.ts";

export interface SecretFile {
  /** Name of the secret. */
  readonly name: string;
  readonly source: SecretSource;
  readonly mode: number;
  readonly uid: number;
}

/** Size limit in bytes for all secrets of one incarnation. */
const MOST = 64 << 20;

export class SecretFiles {
  readonly #directory: string;

  /** @param directory absolute; created if missing */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Paths of the files, in the order of the secrets. */
  paths(id: string, count: number): string[] {
    return Array.from({ length: count }, (_, at) => join(this.#directory, id, String(at)));
  }

  /**
   * Reads the secrets from their sources and writes the files. May be repeated while no container uses
   * them. @throws SecretError; the reason of `signal`; Error: the tmpfs cannot be mounted
   */
  async make(id: string, files: readonly SecretFile[], signal: AbortSignal): Promise<void> {
    await this.release(id);
    if (files.length === 0) return;
    makeOwnDirectory(this.#directory, { mode: 0o700 });
    const directory = join(this.#directory, id);
    try {
      makeOwnDirectory(directory, { mode: 0o700 });
      await mountMemory(directory, MOST);
      giveOwnDirectory(directory, { mode: 0o700 });
      const paths = this.paths(id, files.length);
      for (const [at, file] of files.entries()) await writeSecret(paths[at]!, file, signal);
    } catch (error) {
      await this.release(id);
      throw error;
    }
  }

  /** Removes the files. Succeeds if there are none. @throws Error: they are in use, or somebody else has files there */
  async release(id: string): Promise<void> {
    const directory = join(this.#directory, id);
    await unmountMemory(directory);
    const found = lstatSync(directory, { throwIfNoEntry: false });
    if (found?.isDirectory()) rmdirSync(directory);
    else if (found !== undefined) unlinkSync(directory);
  }

  /** Called at the start: removes the files of all incarnations except these. Returns the errors of those that could not be removed. */
  async sweep(ids: ReadonlySet<string>): Promise<readonly unknown[]> {
    if (!existsSync(this.#directory)) return [];
    const left: unknown[] = [];
    for (const id of readdirSync(this.#directory)) if (!ids.has(id)) await this.release(id).catch((error) => left.push(error));
    return left;
  }
}

/** The content of a file, for an environment variable. @throws SecretError: it is no text */
export function readVariable(path: string, name: string): string {
  const bytes = readSecretIn(path);
  const text = bytes.toString();
  const isText = !text.includes("\0") && Buffer.from(text).equals(bytes);
  bytes.fill(0);
  if (!isText) throw new SecretError(`secret ${name}: it is no text, and cannot be a variable`);
  return text;
}

/** The file may belong to the container's user. Only root can add entries to its directory. */
function readSecretIn(path: string): Buffer {
  const fd = openOwnFile(path, MOST, { isOfAnybody: true });
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

async function writeSecret(path: string, { name, source, mode, uid }: SecretFile, signal: AbortSignal): Promise<void> {
  let bytes: Buffer;
  try {
    bytes = await readSecret(source, signal);
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    throw new SecretError(`secret ${name}: ${error.message}`, { cause: error });
  }
  try {
    writeOwnFile(path, bytes, mode);
    lchownSync(path, uid, uid);
  } finally {
    bytes.fill(0);
  }
}
