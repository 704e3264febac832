/** What applying a file would change. Pure. */
import type { TaskRecord } from "../model/index.ts";
import { specDigest, type TaskSpec } from "../spec/index.ts";

export interface TaskDifference {
  readonly name: string;
  /** create: there is none of this name. change: there is, and it is asked for something else. unlisted: it is there, and not in the file. */
  readonly change: "create" | "unchanged" | "change" | "unlisted";
  /** Of a change: every field, by JSON pointer within the normalised spec; absent on one side: it is not there. */
  readonly fields: readonly FieldDifference[];
}

export interface FieldDifference {
  readonly pointer: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** In the order of the file; then those that are not in it, by name. @param tasks of the group, the newest of each name last */
export function differenceOf(specs: readonly TaskSpec[], tasks: readonly TaskRecord[]): TaskDifference[] {
  const present = new Map(tasks.map((task) => [task.name, task]));
  const listed = specs.map((spec): TaskDifference => {
    const task = present.get(spec.name);
    if (task === undefined) return { name: spec.name, change: "create", fields: [] };
    if (task.digest === specDigest(spec)) return { name: spec.name, change: "unchanged", fields: [] };
    return { name: spec.name, change: "change", fields: fieldDifferences(task.spec, spec, "") };
  });
  const names = new Set(specs.map(({ name }) => name));
  const unlisted = [...present.keys()].filter((name) => !names.has(name)).sort();
  return [...listed, ...unlisted.map((name): TaskDifference => ({ name, change: "unlisted", fields: [] }))];
}

export function fieldDifferences(before: unknown, after: unknown, pointer: string): FieldDifference[] {
  if (!isTree(before) || !isTree(after) || Array.isArray(before) !== Array.isArray(after)) {
    if (before === after) return [];
    return [{ pointer, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
  }
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) =>
    fieldDifferences(before[key], after[key], `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`),
  );
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
