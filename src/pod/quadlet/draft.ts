/** What a unit says in the terms of a Compose file, whose translation to tasks is used for it, with the place of each part. */

import type { Unit, Value } from "./unit.ts";
import type { Entry } from "./unit-text.ts";

type Path = readonly (string | number)[];

export class Draft {
  readonly unit: Unit;
  readonly fields: Record<string, unknown> = {};
  readonly #places = new Map<string, Entry>();

  constructor(unit: Unit) {
    this.unit = unit;
  }

  set(field: string, value: unknown, entry: Entry): void {
    this.fields[field] = value;
    this.#places.set(field, entry);
  }

  /** Sets a field to the text of a value, if there is one. */
  take(field: string, value: Value | undefined): void {
    if (value !== undefined) this.set(field, value.text, value.entry);
  }

  add(field: string, value: unknown, entry: Entry): void {
    const list = (this.fields[field] ?? []) as unknown[];
    this.fields[field] = list;
    this.#places.set(`${field}/${list.length}`, entry);
    if (list.length === 0) this.#places.set(field, entry);
    list.push(value);
  }

  put(field: string, name: string, value: unknown, entry: Entry): void {
    const map = (this.fields[field] ?? Object.create(null)) as Record<string, unknown>;
    this.fields[field] = map;
    this.#places.set(`${field}/${name}`, entry);
    if (!this.#places.has(field)) this.#places.set(field, entry);
    map[name] = value;
  }

  /** undefined: nothing in the unit says it. */
  entryOf(path: Path): Entry | undefined {
    for (let length = path.length; length > 0; length--) {
      const entry = this.#places.get(path.slice(0, length).join("/"));
      if (entry !== undefined) return entry;
    }
    return undefined;
  }
}
