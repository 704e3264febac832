/** Values of a file that were not checked by a schema yet. */

export type Fields = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An empty object if the value is no map. */
export function fieldsOf(value: unknown): Fields {
  return isMap(value) ? value : {};
}
