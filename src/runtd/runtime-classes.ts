/** The command line options that name further runtimes for tasks. */
import { isAbsolute } from "node:path";
import { RUNTIME_NAME } from "../engine/index.ts";

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
