/** Compares two specs field by field. Pure. */

export interface FieldDifference {
  readonly pointer: string;
  readonly before?: unknown;
  readonly after?: unknown;
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
