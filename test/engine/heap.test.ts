/** The heap of the daemon, as V8 counts it when the program ends. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { REPOSITORY } from "../support/programs.ts";

/** In bytes; the heap when all is loaded was as much before the daemon was bundled. */
const LOADED = 26_000_000;

const TELL = 'process.on("exit", () => process.stdout.write("\\n" + process.memoryUsage().heapTotal));';

/** The space of young objects, after some work that leaves garbage. */
const WORK = `import { getHeapSpaceStatistics } from "node:v8";
process.on("exit", () => {
  const kept = [];
  for (let index = 0; index < 1e5; index++) kept[index % 2e4] = { name: "x" + index, list: [index] };
  process.stdout.write("\\n" + getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size);
});`;

function toldAtEnd(program: string, tell: string): number {
  const args = ["--import", `data:text/javascript,${encodeURIComponent(tell)}`, join(REPOSITORY, "dist/runtd", program), "--help"];
  return Number(execFileSync(process.execPath, args, { encoding: "utf8", timeout: PATIENCE_MS }).split("\n").at(-1));
}

test("loading the program leaves little garbage in the heap", () => {
  // At least: how much garbage there is at the end depends on when it was collected last.
  expect(Math.min(...Array.from({ length: 3 }, () => toldAtEnd("main.js", TELL)))).toBeLessThan(LOADED);
});

test("what main.js sets before it loads the program keeps the space of young objects small", () => {
  expect(toldAtEnd("main.js", WORK)).toBeLessThan(toldAtEnd("program.js", WORK) * 0.6);
});
