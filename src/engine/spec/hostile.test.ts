/** Files that are made to take long or to grow. Each is answered, in time and memory proportional to its length. */
import { expect, test } from "vitest";
import { LARGEST_FILE, parseTasks, readDocuments } from "./index.ts";

const filled = (piece: string) => piece.repeat(Math.floor(LARGEST_FILE / piece.length));
/** Generous, because the machine may be busy. Parsing in quadratic time takes more than a minute for 250 KB. */
const LONGEST_MS = 30_000;

test.each([
  ...["{", "[", "- ", "? ", "{? ", "[a, {b: ", "&a {", "{\n", "[#\n", "]", "}", ","].map(filled),
  ...["---\n", "--- a\n", "...\n", "%FOO a\n", "&a ", "!a ", "- !x a\n", "- *a\n", ": ", "a: ", "- @a\n", "\t", "\r", "\uFEFF"].map(filled),
  ...[`"${filled("\\q").slice(10)}"`, `"${filled("\n").slice(10)}"`, `|\n${filled(" a\n").slice(10)}`, `a: ${filled(" ").slice(10)}b`],
  `? ${"? ".repeat(90)}a`,
  `{${"[".repeat(60)}${"]".repeat(60)}: 1}`,
])("250 KB of one kind, case %#", (text) => {
  const begun = performance.now();
  const documents = readDocuments(text, "task");
  for (const { value } of documents) JSON.stringify(value);
  expect(documents.length).toBeGreaterThan(0);
  expect(performance.now() - begun).toBeLessThan(LONGEST_MS);
});

test("what is nested as deeply as files are is read, and what is nested more deeply is told", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  expect(readDocuments(nested(99), "task")[0]!.findings).toEqual([]);
  expect(readDocuments(nested(500), "task")[0]!.findings).toMatchObject([
    { code: "syntax", message: expect.stringContaining("nested too deeply") },
  ]);
});

test("aliases count as often as they are used, and deepen what they are in", () => {
  const list = `a: &a [${"1,".repeat(20_000)}]\n`;
  const [document] = readDocuments(`${list}b: [${"*a,".repeat(50)}]\n`, "task");
  expect(document!.findings).toMatchObject([{ message: expect.stringContaining("more than 100000 values") }]);
  const chain = Array.from(
    { length: 3 },
    (_, index) => `k${index}: &k${index} ${"[".repeat(40)}${index === 0 ? "1" : `*k${index - 1}`}${"]".repeat(40)}`,
  );
  expect(readDocuments(chain.join("\n"), "task")[0]!.findings).toMatchObject([{ message: expect.stringContaining("nested too deeply") }]);
});

test("a file has 1,000 documents at most", () => {
  expect(parseTasks("---\nname: a\n".repeat(1001)).findings).toMatchObject([{ message: "the file has more than 1000 documents" }]);
});

test("all variables of a container, and of an agent, have at most 1 MiB", () => {
  const half = "x".repeat(120_000);
  const env = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`V${index}`, half]));
  const yaml = `v: &v ${half}\n`;
  expect(yaml.length).toBeLessThan(LARGEST_FILE);
  const text = `name: a\ncontainers:\n  - name: c\n    rootfs: /r\n    command: x\n    env: { V0: &v "${half}", ${Object.keys(env)
    .slice(1)
    .map((name) => `${name}: *v`)
    .join(", ")} }\n`;
  expect(parseTasks(text).findings).toMatchObject([{ code: "limit", pointer: "/containers/0/env" }]);
});
