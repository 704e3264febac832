/** A mutant's executable. */
import { buildVariant } from "../support/variant.ts";
import type { Mutant } from "./catalogue.ts";

/** Returns the path of the executable, in a directory that is made for it. */
export function buildMutant(mutant: Mutant, directory: string): string {
  return buildVariant("test/mutants/plugin.ts", directory, { RUNT_MUTANT: mutant.id });
}
