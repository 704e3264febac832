/** A verb on every container whose id matches a regular expression (crun's --regex). */
import { RuntError } from "../errors/index.ts";
import type { RuntimeOptions } from "../prepare/index.ts";
import { listIds } from "../state/index.ts";

/** All of them, whatever fails. @throws RuntError the first failure, with the number of further ones */
export function forEachMatch({ root }: RuntimeOptions, pattern: string, act: (id: string) => void): void {
  const expression = compilePattern(pattern);
  const failures: RuntError[] = [];
  for (const id of listIds(root).filter((candidate) => expression.test(candidate))) {
    try {
      act(id);
    } catch (error) {
      if (!(error instanceof RuntError)) throw error;
      // Deleted since the listing.
      if (error.code !== "id-unknown") failures.push(new RuntError(error.code, `${id}: ${error.message}`, error.details));
    }
  }
  const [first, ...others] = failures;
  if (!first) return;
  throw others.length === 0 ? first : new RuntError(first.code, `${first.message} (and ${others.length} more)`, first.details);
}

/** It need not match the whole id, as for regexec(3). */
function compilePattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern);
  } catch (cause) {
    throw new RuntError("usage", `--regex: invalid regular expression "${pattern}"`, { cause });
  }
}
