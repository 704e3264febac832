/**
 * The spec of a task for callers that may only read. What a user may have put a secret into is null: it is recognised by the name of its field, wherever the field
 * is, so that a further check, hook or agent is covered. Pure.
 */
import type { TaskSpec } from "../spec/index.ts";

/** Maps whose names are shown and whose values are not. `options`: of a log; those of resolv.conf are a list. */
const MAPS = new Set(["env", "annotations", "headers", "options", "files"]);
/** Lists with a program and its arguments: the program is shown. */
const COMMANDS = new Set(["command", "exec"]);

export function withoutValues(spec: TaskSpec): Readonly<Record<string, unknown>> {
  return fieldsOf(spec);
}

function fieldsOf(fields: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shown(name, value)]));
}

function shown(name: string, value: unknown): unknown {
  if (Array.isArray(value)) {
    if (name === "args") return value.map(() => null);
    if (COMMANDS.has(name)) return value.map((word, index) => (index === 0 ? word : null));
    return value.map((one) => shown("", one));
  }
  if (typeof value !== "object" || value === null) return value;
  if (MAPS.has(name)) return Object.fromEntries(Object.keys(value).map((key) => [key, null]));
  // The path of a request may have a key in it.
  return name === "http" ? { ...fieldsOf(value), path: null } : fieldsOf(value);
}
