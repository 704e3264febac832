/**
 * Parses a task file (YAML or JSON) into TaskSpecs, or reports all findings with line and column. Each document of the file is one task; together
 * they form a group.
 */

import { createHash } from "node:crypto";
import { z } from "zod";
import { canonicalJson } from "./canonical.ts";
import { checkGroup } from "./check/group.ts";
import { duplicates } from "./check/names.ts";
import { checkTask } from "./check/task.ts";
import { MOST_FINDINGS, type ReadDocument, readDocuments } from "./documents.ts";
import type { Finding } from "./finding.ts";
import { checkPoolSpec, type PoolSpec, pool } from "./schema/pool.ts";
import { type TaskSpec, task } from "./schema/task.ts";
import { shapeProblems } from "./shape.ts";

export interface ParsedFile {
  /** Empty if there are findings. */
  readonly tasks: readonly TaskSpec[];
  /** The documents with `kind: Pool`. Absent: there are none. Empty if there are findings. */
  readonly pools?: readonly PoolSpec[];
  readonly findings: readonly Finding[];
  /** Fields that are accepted, but have no effect, or not the effect that the author may expect. */
  readonly warnings?: readonly Finding[];
}

/**
 * Maximum number of characters of all texts of all tasks of a file, after references and replicas are expanded. The engine stores each text more
 * than once.
 */
const MOST_TEXT = 4 * 1024 * 1024;
const TOO_LARGE: Finding = {
  ...{ code: "limit", pointer: "", document: 0, line: 1, column: 1 },
  message: `the tasks of the file have texts of more than ${MOST_TEXT} characters, with references replaced and replicas counted`,
};

/** Uses only `text`. Reports all findings of the file in the order of lines, up to 1000. */
export function parseTasks(text: string): ParsedFile {
  return withPools(readDocuments(text, "task"), (documents) => tasksIn(documents));
}

/** Whether a document is a pool of this engine. Objects of Kubernetes have an `apiVersion`. */
export function isPool({ value }: Pick<ReadDocument, "value">): boolean {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "Pool" && !("apiVersion" in value);
}

/** Reads the pools of a file, and everything else by `read`, which is not called if there is nothing else. */
export function withPools(documents: readonly ReadDocument[], read: (others: readonly ReadDocument[]) => ParsedFile): ParsedFile {
  const ofPools = documents.filter(isPool);
  if (ofPools.length === 0) return read(documents);
  const others = documents.filter((one) => !isPool(one) && (one.value !== null || one.findings.length > 0));
  const file: ParsedFile = others.length === 0 ? { tasks: [], findings: [] } : read(others);
  const found = ofPools.map((document) => ({ document, parsed: pool.safeParse(document.value) }));
  const pools = found.flatMap(({ parsed }) => parsed.data ?? []);
  const problems = found.flatMap(({ document, parsed }) =>
    (parsed.success ? checkPoolSpec(parsed.data) : shapeProblems(parsed.error)).slice(0, MOST_FINDINGS).map(document.place),
  );
  if (problems.length === 0)
    for (const at of duplicates(pools.map(({ name }) => name)))
      problems.push(
        found[at]!.document.place({ code: "duplicate-name", message: `the pool ${pools[at]!.name} is there twice`, path: ["name"] }),
      );
  if (file.findings.length + problems.length === 0) return { ...file, pools };
  return { ...parsedFile([], [...file.findings, ...problems], file.warnings), pools: [] };
}

/** Like parseTasks, for documents that are already parsed. `machines`: names of the runtimes of the host that make virtual machines. */
export function tasksIn(documents: readonly ReadDocument[], machines: readonly string[] = []): ParsedFile {
  const read = documents.map((document) => readTask(document, machines));
  const findings = read.flatMap((one) => one.findings);
  const tasks = read.flatMap((one) => (one.task === undefined ? [] : [one.task]));
  if (tasks.length === documents.length) {
    for (const { task: index, ...problem } of checkGroup(tasks)) findings.push(documents[index]!.place(problem));
  }
  return parsedFile(tasks, findings);
}

/** Returns either tasks or findings, which are sorted by line and limited in number. */
export function parsedFile(tasks: readonly TaskSpec[], found: readonly Finding[], told: readonly Finding[] = []): ParsedFile {
  const byPlace = (all: readonly Finding[]) => all.slice(0, MOST_FINDINGS).sort((a, b) => a.line - b.line || a.column - b.column);
  const findings = byPlace(found);
  if (findings.length === 0 && !isWithin(tasks, MOST_TEXT)) findings.push(TOO_LARGE);
  return { tasks: findings.length === 0 ? tasks : [], findings, ...(told.length === 0 ? {} : { warnings: byPlace(told) }) };
}

/** Whether all texts in the value together have at most `most` characters. */
function isWithin(value: unknown, most: number): boolean {
  let left = most;
  const take = (one: unknown): boolean => {
    if (typeof one === "string") left -= one.length;
    else if (typeof one === "object" && one !== null) {
      for (const [key, inner] of Object.entries(one)) {
        left -= key.length;
        if (!take(inner)) return false;
      }
    }
    return left >= 0;
  };
  return take(value);
}

function readTask({ value, findings, place }: ReadDocument, machines: readonly string[]): { task?: TaskSpec; findings: Finding[] } {
  if (findings.length > 0) return { findings: [...findings] };
  const parsed = task.safeParse(value);
  const problems = parsed.success ? checkTask(parsed.data, machines) : shapeProblems(parsed.error);
  const found = problems.slice(0, MOST_FINDINGS).map(place);
  return parsed.success ? { task: parsed.data, findings: found } : { findings: found };
}

/** The JSON Schema of a task file, for editors: a document is a task or a pool. */
export function taskJsonSchema(): Record<string, unknown> {
  const { $schema, ...ofTask } = z.toJSONSchema(task, { io: "input" });
  const { $schema: _, ...ofPool } = z.toJSONSchema(pool, { io: "input" });
  return { $schema, title: "Task or pool of runtd", anyOf: [ofTask, ofPool] };
}

// A digest of a spec. `apply` compares digests to find out whether a task has changed.

const DIGESTS = new WeakMap<TaskSpec | PoolSpec, string>();

/**
 * "sha256:..." of the normalised spec. It does not depend on the order of keys, comments, or how a size is written.
 * It is computed once for each object, because a large service asks for it again and again: a spec is never changed.
 */
export function specDigest(spec: TaskSpec | PoolSpec): string {
  const known = DIGESTS.get(spec);
  if (known !== undefined) return known;
  const digest = `sha256:${createHash("sha256").update(canonicalJson(spec)).digest("hex")}`;
  DIGESTS.set(spec, digest);
  return digest;
}
