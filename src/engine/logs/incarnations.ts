/** The logs of a container's incarnations, BASE.GENERATION.log each: the one that is written and the one before it are kept. */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const LOG = /^(.*)\.(\d+)\.log$/;
const FILE = /^(.*)\.(\d+)\.log(?:\.\d+)?$/;

/** Of the incarnation before; undefined: there is none, or its log is gone. @param path of a log */
export function previousLog(path: string): string | undefined {
  const [, base, generation] = LOG.exec(basename(path)) ?? [];
  if (base === undefined) return undefined;
  const previous = join(dirname(path), `${base}.${Number(generation) - 1}.log`);
  return existsSync(previous) ? previous : undefined;
}

/** Before the incarnation of this log begins: logs of those before the last one go, with what was rotated. */
export function pruneLogs(path: string): void {
  const [, base, generation] = LOG.exec(basename(path)) ?? [];
  for (const name of readdirSync(dirname(path))) {
    const [, ofBase, ofGeneration] = FILE.exec(name) ?? [];
    if (base !== undefined && ofBase === base && Number(ofGeneration) < Number(generation) - 1) rmSync(join(dirname(path), name));
  }
}
