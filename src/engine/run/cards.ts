/**
 * Keeps the spec of each task in a file beside the store. A store that was restored from a backup knows less than what runs; with the file a task can be adopted. The record in the store
 * wins wherever there is one.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isTaskId, revisionOf, type TaskCard, type TaskRecord } from "../model/index.ts";
import { specDigest } from "../spec/index.ts";
import type { Paths } from "./paths.ts";

const SUFFIX = ".json";

interface Written extends TaskCard {
  /** Of the spec: a card that was changed is none. */
  readonly digest: string;
}

export class Cards {
  readonly #paths: Paths;

  constructor(paths: Paths) {
    this.#paths = paths;
  }

  /** Before its first container is there, and when its spec changes. @throws what writeFileSync throws */
  write({ id, group, spec, cgroup, createdAt, digest }: TaskRecord): void {
    const path = this.#paths.card(id);
    const card: Written = { id, group, spec, cgroup, createdAt, digest };
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.new`, JSON.stringify(card), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }

  /** undefined: there is none that could be trusted. */
  read(id: string): TaskCard | undefined {
    if (!isTaskId(id)) return undefined;
    try {
      const { digest, ...card } = JSON.parse(readFileSync(this.#paths.card(id), "utf8")) as Written;
      return card.id === id && specDigest(card.spec) === digest ? card : undefined;
    } catch {
      return undefined;
    }
  }

  remove(id: string): void {
    // The second is of a daemon that was killed while it wrote.
    for (const path of [this.#paths.card(id), `${this.#paths.card(id)}.new`]) rmSync(path, { force: true });
  }

  /** The highest that any task has had which has a card: an id is not given twice, also when the store has forgotten it. */
  lastRevision(): number {
    const revisions = this.#names().map((name) => revisionOf(name.slice(0, -SUFFIX.length)));
    return Math.max(0, ...revisions.filter(Number.isSafeInteger));
  }

  #names(): string[] {
    try {
      return readdirSync(this.#paths.cards).filter((name) => name.endsWith(SUFFIX));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  }
}
