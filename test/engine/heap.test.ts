/** The heap of the daemon, as V8 counts it when the program ends. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { REPOSITORY } from "../support/programs.ts";

const TELL = `process.on("exit", () => process.stdout.write("\\n" + process.memoryUsage().heapTotal));`;

/** Bytes that V8 has taken for it, at least: how much garbage there is at the end depends on when it was collected last. */
function heapOf(program: string): number {
  return Math.min(...Array.from({ length: 6 }, () => heapAtEnd(program)));
}

function heapAtEnd(program: string): number {
  const args = ["--import", `data:text/javascript,${encodeURIComponent(TELL)}`, join(REPOSITORY, "dist/runtd", program), "--help"];
  return Number(execFileSync(process.execPath, args, { encoding: "utf8" }).split("\n").at(-1));
}

test("loading the program leaves little garbage in the heap, unlike loading it without what main.js sets before", () => {
  expect(heapOf("main.js")).toBeLessThan(heapOf("program.js") * 0.8);
});
