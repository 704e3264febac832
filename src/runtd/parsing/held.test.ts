/**
 * No request may block the thread that answers all clients for more than 50 ms of processor time. This covers files that are parsed in that thread
 * (parsing/files.ts parses others in a thread of its own), and bodies of requests. Processor time is measured, because wall clock time says nothing
 * on a busy machine. The minimum of several rounds counts, because other threads of this process use processor time, too.
 */
import { expect, test } from "vitest";
import { parseFile } from "../../pod/index.ts";
import { boundedJson } from "../../shared/text/index.ts";

const MOST_MS = 50;
const TRIES = 10;
/** The same value as in files.ts. */
const SHORT = 4096;
/** Maximum length of a request's body, as in serve.ts. */
const LARGEST = 2 << 20;

function leastCpuMs(action: () => unknown): number {
  const times = Array.from({ length: TRIES }, () => {
    const before = process.cpuUsage();
    try {
      action();
    } catch {
      // A refusal must not take longer, either.
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
