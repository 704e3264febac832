import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execaSync } from "execa";
import { afterEach, beforeEach, expect, test } from "vitest";

const TOOL = fileURLToPath(new URL("apply-patches.sh", import.meta.url));
const FILE = "a.c";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "apply-patches-"));
  mkdirSync(join(directory, "source"));
  mkdirSync(join(directory, "patches"));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** A change of the second of three lines. */
const patch = (lines: readonly [string, string, string], to: string): string =>
  `Description: why\n\n--- a/${FILE}\n+++ b/${FILE}\n@@ -1,3 +1,3 @@\n ${lines[0]}\n-${lines[1]}\n+${to}\n ${lines[2]}\n`;

function apply(source: string, patches: Readonly<Record<string, string>>) {
  writeFileSync(join(directory, "source", FILE), source);
  for (const [name, text] of Object.entries(patches)) writeFileSync(join(directory, "patches", `${name}.patch`), text);
  return execaSync(TOOL, ["source", "patches", "changed"], { cwd: directory, reject: false });
}
const changed = () => readFileSync(join(directory, "changed", FILE), "utf8");

test("applies the patches to a copy, in the order of their names", () => {
  const result = apply("one\ntwo\nthree\n", {
    "0002": patch(["one", "deux", "three"], "zwei"),
    "0001": patch(["one", "two", "three"], "deux"),
  });
  expect(result).toMatchObject({ exitCode: 0, stderr: "" });
  expect(changed()).toBe("one\nzwei\nthree\n");
  expect(readFileSync(join(directory, "source", FILE), "utf8")).toBe("one\ntwo\nthree\n");
});

test.each([
  ["whose line is another", "one\nother\nthree\n"],
  ["whose context is another", "one\ntwo\nother\n"],
  ["whose lines are somewhere else", "zero\none\ntwo\nthree\n"],
  ["that is in the source already", "one\ndeux\nthree\n"],
])("names a patch %s, and leaves nothing", (_, source) => {
  const result = apply(source, { "0001-translate": patch(["one", "two", "three"], "deux") });
  expect(result.exitCode).toBe(1);
  expect(result.stderr).toMatch(/^patches\/0001-translate\.patch does not apply$/m);
  expect(changed).toThrow(/ENOENT/);
});
