/**
 * In the upper half (node, engine, executor, runtd) files and directories below the program's own are reached by src/node/write.ts and src/executor/own/file.ts, which follow no link,
 * wait for no FIFO and empty no mount (docs/engine/identity.md). Every other call with a name, and every signal, is listed with the reason why it does no harm. A call that is
 * not in the list fails, and so does an entry without a call.
 *
 * Usage: tsx tools/lint-own.ts [--print]: --print lists every call that is found.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { collect, compare, filesBelow } from "./lint-in-root.ts";
import { LIST, OWN_CALLS } from "./lint-own/allowed.ts";
import { ownCalls } from "./lint-own/calls.ts";

const WINGS = ["engine", "executor", "node", "runtd"];

function main(): void {
  const repository = fileURLToPath(new URL("..", import.meta.url));
  const sources = WINGS.flatMap((wing) =>
    filesBelow(join(repository, "src", wing), (name) => name.endsWith(".ts") && !name.endsWith(".test.ts")),
  );
  const found = collect(repository, sources, ownCalls);
  if (process.argv.includes("--print")) {
    for (const [file, calls] of found) for (const call of calls) console.log(`${file}: ${call}`);
    return;
  }
  const problems = compare(found, OWN_CALLS, LIST);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
