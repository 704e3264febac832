/** The features document for people: a line for every list and value, named by its place in the document. */
import { columns, type Row } from "./columns.ts";

const WIDTH = 100;

export function featuresTable(document: object): string {
  return columns(rowsOf(document, ""), WIDTH)
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

function rowsOf(value: object, prefix: string): Row[] {
  return Object.entries(value).flatMap(([key, entry]: [string, unknown]): Row[] => {
    const name = prefix + key;
    if (Array.isArray(entry)) return [[name, entry.join(", ")]];
    // Annotations have dots of their own: their names stay whole.
    if (entry !== null && typeof entry === "object") return rowsOf(entry, key === "annotations" ? "" : `${name}.`);
    return [[name, String(entry)]];
  });
}
