/** Lines of the channel's modules that cases reach, in Node. Usage: coverage.ts DIRECTORY...; fails below 95 %, or where a case finds something. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runInThisContext } from "node:vm";
import { bundle } from "./bundle.ts";
import type { Place } from "./instrument.ts";
import type * as Subject from "./subject.ts";

const LEAST = 95;

/** Line -> whether each of its counters has counted. */
function linesOf(places: readonly Place[], hits: Uint32Array): ReadonlyMap<string, ReadonlyMap<number, boolean>> {
  const files = new Map<string, Map<number, boolean>>();
  places.forEach(({ file, line }, index) => {
    const lines = files.get(file) ?? new Map<number, boolean>();
    lines.set(line, (lines.get(line) ?? true) && hits[index]! > 0);
    files.set(file, lines);
  });
  return files;
}

const { script, places } = await bundle();
const hits = new Uint32Array(places.length);
Object.assign(globalThis, { __hit: hits });
const { execute } = runInThisContext(`${script}; subject`) as typeof Subject;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const cases = process.argv.slice(2).flatMap((directory) => readdirSync(directory).map((name) => join(directory, name)));
for (const path of cases) {
  try {
    execute(readFileSync(path), (bytes) => utf8.decode(bytes));
  } catch (error) {
    console.error(`${path}: ${error}`);
    process.exitCode = 1;
  }
}
const all: boolean[] = [];
for (const [file, lines] of [...linesOf(places, hits)].sort()) {
  const missing = [...lines].flatMap(([line, isReached]) => (isReached ? [] : line));
  all.push(...lines.values());
  console.log(
    `${file}: ${lines.size - missing.length} of ${lines.size} lines${missing.length > 0 ? `, without ${missing.sort((a, b) => a - b).join(", ")}` : ""}`,
  );
}
const share = (100 * all.filter(Boolean).length) / all.length;
console.log(`${cases.length} cases: ${share.toFixed(1)} % of the lines`);
if (share < LEAST) process.exitCode = 1;
