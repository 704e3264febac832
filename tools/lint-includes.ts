/**
 * Which C file includes which (native-bindings): shared <- host and init <- program, host <- twins <- program <- client, and no circle. The headers of `testing` include none of the
 * rooms and may be included by all; its sources are linked into both programs of the test build.
 *
 * Usage: tsx tools/lint-includes.ts
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";

/** What a file of each room may include, beside its own room. */
const MAY_INCLUDE: Readonly<Record<string, readonly string[]>> = {
  testing: [],
  shared: ["testing"],
  init: ["shared", "testing"],
  host: ["shared", "testing"],
  twins: ["host", "shared", "testing"],
  program: ["host", "shared", "testing"],
  client: ["program", "host", "shared"],
  "sources of testing": ["host", "init", "shared", "testing"],
};

/** Path below native-bindings -> text. */
export type CFiles = ReadonlyMap<string, string>;

const roomOf = (path: string): string => {
  const room = path.slice(0, path.indexOf("/"));
  return room === "testing" && path.endsWith(".c") ? "sources of testing" : room;
};

/** The files of ours that a file includes. What the build generates is none of them. */
function includesOf(path: string, files: CFiles): string[] {
  const names = [...(files.get(path) ?? "").matchAll(/^[ \t]*#[ \t]*include[ \t]+"([^"]+)"/gm)].map(([, name = ""]) => name);
  return names.map((name) => posix.join(posix.dirname(path), name)).filter((file) => files.has(file));
}

/** The first circle that is reached from `path`, as the files on it. */
function circleFrom(
  path: string,
  edges: ReadonlyMap<string, readonly string[]>,
  done: Set<string>,
  above: readonly string[],
): string[] | undefined {
  const place = above.indexOf(path);
  if (place >= 0) return [...above.slice(place), path];
  if (done.has(path)) return undefined;
  for (const next of edges.get(path) ?? []) {
    const circle = circleFrom(next, edges, done, [...above, path]);
    if (circle) return circle;
  }
  done.add(path);
  return undefined;
}

/** One line for each problem. */
export function problemsOf(files: CFiles): string[] {
  const edges = new Map([...files.keys()].map((path) => [path, includesOf(path, files)]));
  const against = [...edges].flatMap(([path, included]) =>
    included
      .filter((file) => roomOf(file) !== roomOf(path) && !MAY_INCLUDE[roomOf(path)]?.includes(roomOf(file)))
      .map((file) => `native-bindings/${path}: includes ${file}: ${roomOf(path)} may not include ${roomOf(file)}`),
  );
  const done = new Set<string>();
  const circles = [...edges.keys()].flatMap((path) => {
    const circle = circleFrom(path, edges, done, []);
    for (const file of circle ?? []) done.add(file);
    return circle ? [`native-bindings/${circle.join(" -> ")}: a circle`] : [];
  });
  return [...against, ...circles];
}

function readAll(directory: string): CFiles {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) => /\.[ch]$/.test(name));
  return new Map(names.sort().map((name) => [name, readFileSync(join(directory, name), "utf8")]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = problemsOf(readAll(fileURLToPath(new URL("../native-bindings", import.meta.url))));
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
