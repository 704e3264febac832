/** The logs of a container's incarnations, BASE.GENERATION.log each. The current one and the one before it are kept. */
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { removeOwnFile } from "../../node/index.ts";

const LOG = /^(.*)\.(\d+)\.log$/;
const FILE = /^(.*)\.(\d+)\.log(?:\.\d+)?$/;

/** Path of the previous incarnation's log; undefined: there is none. @param path log of an incarnation */
export function previousLog(path: string): string | undefined {
  const [, base, generation] = LOG.exec(basename(path)) ?? [];
  if (base === undefined) return undefined;
  const previous = join(dirname(path), `${base}.${Number(generation) - 1}.log`);
  return existsSync(previous) ? previous : undefined;
}

/** Removes the logs of older incarnations, including rotated files, before a new incarnation starts. Keeps the last one. */
export function pruneLogs(path: string): void {
  const [, base, generation] = LOG.exec(basename(path)) ?? [];
  for (const name of readdirSync(dirname(path))) {
    const [, ofBase, ofGeneration] = FILE.exec(name) ?? [];
    if (base !== undefined && ofBase === base && Number(ofGeneration) < Number(generation) - 1) removeOwnFile(join(dirname(path), name));
  }
}
