/** mkdir -p with an end: Node's own recursive mkdirSync repeats for ever where a directory exists and nothing can be made in it (ENOENT), as in /proc. */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** What is missing is made with this mode. @throws the error of mkdir(2), for the directory that cannot be made; ENOTDIR: something else has the name */
export function makeDirectories(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let at = path; !isThere(at); at = dirname(at)) missing.unshift(at);
  for (const directory of missing) {
    try {
      mkdirSync(directory, { mode });
    } catch (error) {
      // Another process has made it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

/** @throws Error ENOTDIR */
function isThere(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (found.isDirectory()) return true;
  throw Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), { code: "ENOTDIR", path });
}
