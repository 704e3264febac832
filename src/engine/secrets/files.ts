/** Writes the secrets of one incarnation to files in a tmpfs of its own, which is removed with it. */
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mountMemory, unmountMemory } from "../volumes/index.ts";
import { readSecret } from "./read.ts";
import { SecretError, type SecretSource } from "./source.ts";

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
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const directory = join(this.#directory, id);
    try {
      mkdirSync(directory, { mode: 0o700 });
      await mountMemory(directory, MOST);
      chmodSync(directory, 0o700);
      const paths = this.paths(id, files.length);
      for (const [at, file] of files.entries()) await writeSecret(paths[at]!, file, signal);
    } catch (error) {
      await this.release(id);
      throw error;
    }
  }

  /** Removes the files. Succeeds if there are none. @throws Error: they are in use */
  async release(id: string): Promise<void> {
    const directory = join(this.#directory, id);
    if (!existsSync(directory)) return;
    await unmountMemory(directory);
    rmdirSync(directory);
  }

  /** Removes the files of all incarnations except these. Called at the start. */
  async sweep(ids: ReadonlySet<string>): Promise<void> {
    if (!existsSync(this.#directory)) return;
    for (const id of readdirSync(this.#directory)) if (!ids.has(id)) await this.release(id);
  }
}

/** The content of a file as value of an environment variable. @throws SecretError: it is no text */
export function readVariable(path: string, name: string): string {
  const bytes = readFileSync(path);
  const text = bytes.toString();
  const isText = !text.includes("\0") && Buffer.from(text).equals(bytes);
  bytes.fill(0);
  if (!isText) throw new SecretError(`secret ${name}: it is no text, and cannot be a variable`);
  return text;
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
    writeFileSync(path, bytes, { mode: 0o600, flag: "wx" });
    chownSync(path, uid, uid);
    chmodSync(path, mode);
  } finally {
    bytes.fill(0);
  }
}
