/** The command line options about what pods of this host may ask for: runtimes, and users of their own. */
import { isAbsolute } from "node:path";
import { RUNTIME_NAME, type UserRange } from "../engine/index.ts";

/** An id has 32 bits, and the last two stand for none. */
const HIGHEST_ID = 2 ** 32 - 3;
/** The ids of one task. */
const LEAST = 65_536;

/** undefined: the engine's default. @param value "FIRST:COUNT" @throws Error: it is no such range */
export function userIdsOf(value: string | undefined): UserRange | undefined {
  if (value === undefined) return undefined;
  const [, first, count] = (/^(\d{1,10}):(\d{1,10})$/.exec(value) ?? []).map(Number);
  if (first === undefined || count === undefined) throw new Error(`user-ids: ${value}: write FIRST:COUNT`);
  if (first < LEAST) throw new Error(`user-ids: ids below ${LEAST} are those of the host's own users`);
  if (count < LEAST || first + count - 1 > HIGHEST_ID) throw new Error(`user-ids: ${value}: ${LEAST} ids or more, up to ${HIGHEST_ID}`);
  return { first, count };
}

/** Programs by name. @param values "NAME=FILE" @throws Error: a value is wrong, or a name is given twice */
export function runtimesOf(values: readonly string[] = []): Record<string, string> {
  const pairs = values.map((value): [string, string] => {
    const at = value.indexOf("=");
    const [name, program] = [value.slice(0, Math.max(at, 0)), value.slice(at + 1)];
    if (!RUNTIME_NAME.test(name)) throw new Error(`runtime-class: ${value}: write NAME=FILE with a name like vm`);
    if (!isAbsolute(program)) throw new Error(`runtime-class: ${program} is not absolute`);
    return [name, program];
  });
  const twice = pairs.find(([name], index) => pairs.findIndex(([other]) => other === name) !== index);
  if (twice !== undefined) throw new Error(`runtime-class: ${twice[0]} is there twice`);
  return Object.fromEntries(pairs);
}
