/**
 * Keeps a copy of each task's spec in a file beside the store. A store that was restored from a backup may not know tasks that
 * run; the engine adopts them with this file. If the store has a record of the task, the record takes precedence.
 */
import { mkdirSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { removeOwnFile, writeAtomically } from "../../../node/index.ts";
import { isTaskId, revisionOf, type SpecCopy, type TaskRecord } from "../../model/index.ts";
import { readOwnFile, unlessShortage } from "../../own/index.ts";
import { specDigest } from "../../spec/index.ts";
import type { Paths } from "../paths.ts";
import type { TaskResource } from "./resource.ts";

const SUFFIX = ".json";

interface Written extends SpecCopy {
  /** Digest of `spec`. A file whose spec does not match it was changed by hand and is ignored. */
  readonly digest: string;
}

export class SpecCopies implements TaskResource {
  readonly name = "spec-copies";
  readonly #paths: Paths;

  constructor(paths: Paths) {
    this.#paths = paths;
  }

  prepare(record: TaskRecord): void {
    this.update(record);
  }

  /** @throws as writeAtomically */
  update({ id, group, spec, cgroup, users, createdAt, digest }: TaskRecord): void {
    const path = this.#paths.specCopy(id);
    const specCopy: Written = { id, group, spec, cgroup, ...(users === undefined ? {} : { users }), createdAt, digest };
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeAtomically(path, JSON.stringify(specCopy), { durability: "none" });
  }

  /** undefined: there is no file, or it cannot be trusted. @throws EMFILE, ENFILE, ENOMEM: nobody can say */
  read(id: string): SpecCopy | undefined {
    if (!isTaskId(id)) return undefined;
    try {
      const { digest, ...specCopy } = JSON.parse(readOwnFile(this.#paths.specCopy(id)).toString()) as Written;
      return specCopy.id === id && specDigest(specCopy.spec) === digest ? specCopy : undefined;
    } catch (error) {
      return unlessShortage(error);
    }
  }

  forget(id: string): void {
    // A daemon that was killed while it wrote has left the second file.
    for (const path of [this.#paths.specCopy(id), `${this.#paths.specCopy(id)}.new`]) removeOwnFile(path);
  }

  /** The highest revision among all files. Task ids contain it: an id must not be given twice, even if the store has lost the task. */
  lastRevision(): number {
    const revisions = this.#names().map((name) => revisionOf(name.slice(0, -SUFFIX.length)));
    return Math.max(0, ...revisions.filter(Number.isSafeInteger));
  }

  #names(): string[] {
    try {
      return readdirSync(this.#paths.specCopies).filter((name) => name.endsWith(SUFFIX));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  }
}
