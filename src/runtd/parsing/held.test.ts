/**
 * What a client can have done on the thread that answers everybody takes 50 ms of a processor at most: files that are read there (parsing/files.ts has the others in a thread
 * of their own), and bodies of requests. Processor time, for a busy machine makes clocks of the wall say anything; the least of several, for other threads of this process count.
 */
import { expect, test } from "vitest";
import { parseFile } from "../../pod/index.ts";
import { boundedJson } from "../http/json.ts";

const MOST_MS = 50;
const TRIES = 10;
/** As in files.ts. */
const SHORT = 4096;
/** The longest body of a request: app.ts. */
const LARGEST = 2 << 20;

function leastCpuMs(action: () => unknown): number {
  const times = Array.from({ length: TRIES }, () => {
    const before = process.cpuUsage();
    try {
      action();
    } catch {
      // What is refused is refused in time as well.
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

const filled = (unit: string, length: number) => unit.repeat(Math.floor(length / unit.length));
const pod = (env: readonly object[]) =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { containers: [{ name: "a", image: "oci:/i:v1", env }] },
  });
const doubling = Array.from({ length: 25 }, (_, at) => ({ name: `A${at}`, value: `x$(A${at - 1})`.repeat(8) }));
const anchors = `a: &a [x, x, x]\n${Array.from({ length: 90 }, (_, at) => `b${at}: &b${at} [*${at === 0 ? "a" : `b${at - 1}`}, *a]\n`).join("")}`;

test.each([
  ...[
    "{",
    "[",
    "- ",
    "? ",
    "a: ",
    "&a ",
    "*a ",
    "---\n",
    "!!x ",
    '"',
    "'",
    "|\n",
    "# ",
    "\n",
    " ",
    "\t",
    "{a: ",
    "[[],",
    "- - ",
    "<<: ",
    "a: *b\n",
    "\0",
    "$(A)",
  ].map((unit) => [JSON.stringify(unit), filled(unit, SHORT)]),
  ["keys", Array.from({ length: 500 }, (_, at) => `k${at}: 1\n`).join("")],
  ["documents", filled("---\nname: a\n", SHORT)],
  ["containers", JSON.stringify({ name: "t", containers: Array.from({ length: 150 }, () => ({ name: "a" })) })],
  ["anchors", anchors.slice(0, SHORT)],
  ["variables", pod(doubling)],
])("a file of %s", (_, text) => {
  expect(text.length).toBeLessThanOrEqual(SHORT);
  expect(leastCpuMs(() => parseFile(text, {} as never))).toBeLessThan(MOST_MS);
});

test.each(["[", "{", '{"a":', "[[],", "{},", '"', "1,", '"\\u0000",', "[1],", " ", "x"])("a body of %j", (unit) => {
  expect(leastCpuMs(() => boundedJson(filled(unit, LARGEST)))).toBeLessThan(MOST_MS);
  expect(leastCpuMs(() => boundedJson(`[${filled(unit, LARGEST)}1]`))).toBeLessThan(MOST_MS);
});
