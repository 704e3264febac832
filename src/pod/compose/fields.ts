/** Values of a file whose form nobody has looked at yet. */

export type Fields = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** None, when it is no map. */
export function fieldsOf(value: unknown): Fields {
  return isMap(value) ? value : {};
}
