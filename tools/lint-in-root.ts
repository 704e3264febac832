/**
 * Only the in-root module opens paths in the root file system (docs/security.md). Every other call with a path is listed with the reason why an
 * attacker cannot redirect it. A call that is not in the lists fails, and so does an entry without a call.
 *
 * Usage: tsx tools/lint-in-root.ts [--print]: --print lists every call that is found.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type Allowed, HELPER_CALLS, RUNTIME_CALLS } from "./lint-in-root/allowed.ts";
import { helperCalls } from "./lint-in-root/c.ts";
import { runtimeCalls } from "./lint-in-root/typescript.ts";

const LIST = "tools/lint-in-root/allowed.ts";

/** Calls that are not in the lists, and entries without a call. */
export function compare(found: ReadonlyMap<string, readonly string[]>, allowed: Allowed, list = LIST): string[] {
  const problems: string[] = [];
  for (const [file, calls] of found) {
    for (const call of calls)
      if (!Object.hasOwn(allowed[file] ?? {}, call)) problems.push(`${file}: ${call}: is not in the list (${list})`);
  }
  for (const [file, calls] of Object.entries(allowed)) {
    for (const call of Object.keys(calls))
      if (!found.get(file)?.includes(call)) problems.push(`${file}: ${call}: is in the list, and nowhere else`);
  }
  return problems;
}

export function filesBelow(directory: string, ends: (name: string) => boolean): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter(ends)
    .sort()
    .map((name) => join(directory, name));
}

export function collect(
  repository: string,
  files: readonly string[],
  callsOf: (text: string) => readonly string[],
): Map<string, readonly string[]> {
  const entries = files.map((file) => [relative(repository, file), callsOf(readFileSync(file, "utf8"))] as const);
  return new Map(entries.filter(([, calls]) => calls.length > 0));
}

/** Where the system calls themselves are declared. */
const WRAPPERS = "sys.h";

function main(): void {
  const repository = fileURLToPath(new URL("..", import.meta.url));
  const helper = collect(
    repository,
    ["init", "shared"].flatMap((room) =>
      filesBelow(join(repository, "native-bindings", room), (name) => /\.[ch]$/.test(name) && name !== WRAPPERS),
    ),
    helperCalls,
  );
  const sources = filesBelow(join(repository, "src"), (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  const runtime = collect(repository, sources, runtimeCalls);
  if (process.argv.includes("--print")) {
    for (const [file, calls] of [...helper, ...runtime]) for (const call of calls) console.log(`${file}: ${call}`);
    return;
  }
  const problems = [...compare(helper, HELPER_CALLS), ...compare(runtime, RUNTIME_CALLS)];
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
