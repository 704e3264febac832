/** The file that a command is given. */
import { readFileSync } from "node:fs";
import { type Arguments, UsageError } from "../arguments.ts";

const STDIN = 0;

/** @throws UsageError; what readFileSync throws */
export function textOf({ command, file }: Arguments): { readonly source: string; readonly text: string } {
  if (file === undefined) throw new UsageError(`${command} needs -f FILE`);
  return file === "-" ? { source: "stdin", text: readFileSync(STDIN, "utf8") } : { source: file, text: readFileSync(file, "utf8") };
}
