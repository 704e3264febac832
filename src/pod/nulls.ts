const NONE: ReadonlySet<string> = new Set();

/**
 * Removes null fields, which mean "not given" in Kubernetes and Compose.
 * @param maps names of fields that are maps of texts. A null in such a map is an empty text, as it is for the JSON library of Go
 */
export function withoutNulls(value: unknown, maps: ReadonlySet<string> = NONE): unknown {
  return cleaned(value, maps, "");
}

/** @param name of the field with the value; "": it is in a list */
function cleaned(value: unknown, maps: ReadonlySet<string>, name: string): unknown {
  if (Array.isArray(value)) return value.map((one) => cleaned(one, maps, ""));
  if (typeof value !== "object" || value === null) return value;
  const isMap = maps.has(name);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null || isMap)
      .map(([key, field]) => [key, field === null ? "" : cleaned(field, maps, isMap ? "" : key)]),
  );
}
