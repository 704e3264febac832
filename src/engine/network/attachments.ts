/**
 * The networks of each task, as files. A file is written before anything is made, and again with the results. Removing and checking use it, so that a later
 * configuration, or a later version of this program, undoes exactly what was done.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { NetworkStep } from "../plan/index.ts";
import type { CniResult } from "./answer.ts";

export interface Attachment {
  readonly containerId: string;
  /** The boot that it is of: namespaces, interfaces and rules of another one are gone. */
  readonly bootId: string;
  readonly namespace: string;
  readonly steps: readonly NetworkStep[];
  /** One for each step, in order; null: the steps have not come to their end. */
  readonly results: readonly CniResult[] | null;
}

const SUFFIX = ".json";

export class Attachments {
  readonly #directory: string;
  /** As they are on the disk, where nobody else writes them; undefined: not read yet. */
  #known: Map<string, Attachment> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** It is on the disk when this returns. Errors are those of the system calls. */
  write(attachment: Attachment): void {
    writeDurably(this.#path(attachment.containerId), JSON.stringify(attachment));
    this.#all().set(attachment.containerId, attachment);
  }

  read(containerId: string): Attachment | undefined {
    return this.#all().get(containerId);
  }

  remove(containerId: string): void {
    rmSync(this.#path(containerId), { force: true });
    this.#all().delete(containerId);
  }

  ids(): string[] {
    return [...this.#all().keys()];
  }

  all(): Attachment[] {
    return [...this.#all().values()];
  }

  #all(): Map<string, Attachment> {
    this.#known ??= new Map(this.#files().map((id) => [id, this.#parsed(id)]));
    return this.#known;
  }

  #files(): string[] {
    if (!existsSync(this.#directory)) return [];
    return readdirSync(this.#directory).flatMap((name) => (name.endsWith(SUFFIX) ? [name.slice(0, -SUFFIX.length)] : []));
  }

  /** One that cannot be read is of no step: what is left of it is found by its id. */
  #parsed(containerId: string): Attachment {
    try {
      const { steps, results, bootId, namespace } = JSON.parse(readFileSync(this.#path(containerId), "utf8")) as Attachment;
      if (Array.isArray(steps) && typeof namespace === "string") return { containerId, bootId, namespace, steps, results };
    } catch {
      // The same as one that is no attachment.
    }
    return { containerId, bootId: "", namespace: "", steps: [], results: null };
  }

  #path(containerId: string): string {
    return join(this.#directory, `${containerId}${SUFFIX}`);
  }
}

/** Whoever reads it finds the old text or the new one, also after a loss of power. */
export function writeDurably(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const making = `${path}.making`;
  const fd = openSync(making, "w", 0o600);
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(making, path);
  const directory = openSync(dirname(path), "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
