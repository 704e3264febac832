/**
 * Which C file includes and which calls which (native-bindings): shared <- host and init <- program, host <- twins <- program <- client, and no circle. The headers of `testing` include none of the
 * rooms and may be included by all; its sources are linked into both programs of the test build. Who calls whom is read from the object files of the last build, so
 * that a function that stands in another file than its header says is seen.
 *
 * Usage: tsx tools/lint-includes.ts
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
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
  return [...against, ...circlesOf(edges, "a circle")];
}

function circlesOf(edges: ReadonlyMap<string, readonly string[]>, what: string): string[] {
  const done = new Set<string>();
  return [...edges.keys()].flatMap((path) => {
    const circle = circleFrom(path, edges, done, []);
    for (const file of circle ?? []) done.add(file);
    return circle ? [`native-bindings/${circle.join(" -> ")}: ${what}`] : [];
  });
}

/**
 * One line for each circle of calls, or of uses of variables, in one program.
 * @param symbols of each C file that is linked into it: what nm(1) prints with -P and -g
 */
export function callProblemsOf(symbols: CFiles): string[] {
  const rows = [...symbols].flatMap(([file, text]) =>
    [...text.matchAll(/^(\S+) (\w)/gm)].map(([, name = "", kind = ""]) => ({ file, name, isUse: kind === "U" })),
  );
  const owners = new Map(rows.flatMap(({ file, name, isUse }) => (isUse ? [] : [[name, file] as const])));
  const used = (file: string) => rows.flatMap((row) => (row.file === file && row.isUse ? (owners.get(row.name) ?? []) : []));
  return circlesOf(new Map([...symbols.keys()].map((file) => [file, used(file)])), "a circle of calls");
}

/** Rooms whose sources are linked into one program, and where the objects of each are below build. */
const PROGRAMS: readonly Readonly<Record<string, string>>[] = [
  { init: "init", shared: "init" },
  { host: "host", shared: "shared", twins: "twins", program: "program" },
];

function symbolsOf(rooms: Readonly<Record<string, string>>, files: CFiles): CFiles {
  const found = [...files.keys()].flatMap((file) => {
    const [room = "", name = ""] = file.split("/");
    const object = join("build", rooms[room] ?? "", name.replace(/\.c$/, ".o"));
    return file.endsWith(".c") && Object.hasOwn(rooms, room) ? [{ file, object }] : [];
  });
  const missing = found.find(({ object }) => !existsSync(object));
  if (missing) throw new Error(`${missing.object} is not there: make bin/runt`);
  return new Map(found.map(({ file, object }) => [file, execFileSync("nm", ["-P", "-g", object], { encoding: "utf8" })]));
}

function readAll(directory: string): CFiles {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) => /\.[ch]$/.test(name));
  return new Map(names.sort().map((name) => [name, readFileSync(join(directory, name), "utf8")]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = readAll(fileURLToPath(new URL("../native-bindings", import.meta.url)));
  const problems = [...problemsOf(files), ...PROGRAMS.flatMap((rooms) => callProblemsOf(symbolsOf(rooms, files)))];
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
