/** A path of the container as a path of the host, for reading before the container runs: links do not lead out of the root. */
import { lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";

const MOST_LINKS = 40;

/**
 * As openat2(2) with RESOLVE_IN_ROOT would: `..` stays below the root, absolute links start at it. Undefined when there is no such file. Who can
 * change the directory meanwhile decides what is read from it anyway; it is only ever read as text.
 */
export function resolveInRoot(root: string, path: string): string | undefined {
  const pending = path.split("/");
  const done: string[] = [];
  let links = 0;
  while (pending.length > 0) {
    const part = pending.shift()!;
    if (part === "" || part === ".") continue;
    if (part === "..") {
      done.pop();
      continue;
    }
    const here = join(root, ...done, part);
    const found = lstatSync(here, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    if (!found.isSymbolicLink()) {
      done.push(part);
      continue;
    }
    if (++links > MOST_LINKS) return undefined;
    const target = readlinkSync(here);
    if (target.startsWith("/")) done.length = 0;
    pending.unshift(...target.split("/"));
  }
  return join(root, ...done);
}
