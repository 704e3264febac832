/** The file argument of a verb. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";

export interface FileOption {
  readonly file: string;
}

const STDIN = 0;

export function addFileOption(command: Command): void {
  command.requiredOption("-f, --file <file>", "tasks, pods or Compose services, as YAML or JSON; - is the standard input");
}

/** @throws errors of readFileSync */
export function textOf({ file }: FileOption): { readonly source: string; readonly text: string } {
  return file === "-" ? { source: "stdin", text: readFileSync(STDIN, "utf8") } : { source: file, text: readFileSync(file, "utf8") };
}
