import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * The sorted names of all that is below a directory, relative to it. The engine renames and removes directories at any moment, so
 * one that goes during the walk counts as empty. Node's own recursive `readdirSync` ends with ENOENT then.
 */
export function namesBelow(directory: string): string[] {
  const found: string[] = [];
  const walk = (relative: string): void => {
    for (const entry of entriesOf(join(directory, relative))) {
      const name = join(relative, entry.name);
      found.push(name);
      if (entry.isDirectory()) walk(name);
    }
  };
  if (existsSync(directory)) walk("");
  return found.sort();
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
