/** A mutant of the task engine: one change of one source file, and the test of its row that has to turn red. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../../support/programs.ts";

export interface Mutant {
  /** Number in docs/engine/behaviour.md, with a letter where a row has more mutants: "E91", "E91b". */
  readonly id: string;
  /** What the engine does wrong. */
  readonly fault: string;
  /** Source file. */
  readonly file: string;
  /** What stands there, once, and what takes its place. */
  readonly from: string;
  readonly to: string;
  /** File of the test; its titles have the number. */
  readonly test: string;
}

export function rowOf({ id }: Pick<Mutant, "id">): string {
  return id.replace(/[a-z]$/, "");
}

/** @throws Error: the source has changed, and does not have what is to be replaced, or more than once */
export function mutated({ id, file, from, to }: Mutant, directory = REPOSITORY): string {
  const source = readFileSync(join(directory, file), "utf8");
  const parts = source.split(from);
  if (parts.length !== 2) throw new Error(`mutant ${id}: ${JSON.stringify(from)} is ${parts.length - 1} times in ${file}`);
  return parts.join(to);
}
