/** What applying a file would change. Pure. */
import type { TaskSpec } from "../../spec/index.ts";
import { type AppliedChange, type ApplyOptions, currentOf, type Present, planApply } from "./apply.ts";
import { withPorts } from "./ports.ts";

export interface TaskDifference {
  readonly name: string;
  readonly change: AppliedChange;
  /** For a task that exists and is changed: every field that differs, by JSON pointer into the normalised spec. A side on which the field is missing is absent. */
  readonly fields: readonly FieldDifference[];
}

export interface FieldDifference {
  readonly pointer: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** The tasks of the file in its order, followed by those that only exist on the host. @throws EngineError no-room */
export function differenceOf(written: readonly TaskSpec[], group: string, present: Present, options: ApplyOptions): TaskDifference[] {
  const specs = withPorts(written, group, present.tasks);
  return planApply(specs, group, present, options).applied.map(({ name, change }) => {
    const before = currentOf(present.tasks, group, name)?.spec;
    const now = specs.find((spec) => spec.name === name);
    return { name, change, fields: before === undefined || now === undefined ? [] : fieldDifferences(before, now, "") };
  });
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
