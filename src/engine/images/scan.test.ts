import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { LAYER_TYPE } from "./manifest.ts";
import { Budget, DEFAULT_LIMITS, Directories, scanLayer } from "./scan.ts";

const made: string[] = [];
afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true });
});

test("each directory counts once, whoever brings it, and however its name is written", () => {
  const directories = new Directories();
  const found = ["a/b/c/f", "a/b/c/g", "/a//b/./x", "a/d/", "./a/d/e/f", "f", "b/a/f"].map((name) => directories.impliedBy(name));
  expect(found).toEqual([3, 0, 0, 0, 2, 0, 2]);
});

test("directories with long names are refused before they fill the memory, however few the entries are", () => {
  const directories = new Directories();
  const parents = (entry: number) => Array.from({ length: 15 }, (_, at) => `${entry}-${at}-`.padEnd(255, "x")).join("/");
  let entries = 0;
  const scan = () => {
    for (; entries < 20_000; entries++) directories.impliedBy(`${parents(entries)}/f`);
  };
  expect(scan).toThrow("the names of its directories have more than 33554432 characters together");
  expect(entries).toBeLessThan(10_000);
});

test("the memory for a long path does not grow with the square of its depth", () => {
  const directories = new Directories();
  // As whole paths, these would have 400 million characters.
  for (let entry = 0; entry < 100; entry++) expect(directories.impliedBy(`${entry}/${"a/".repeat(2000)}f`)).toBe(2001);
});

test.each([
  [`a/${"x".repeat(255)}/f`, undefined],
  [`a/${"x".repeat(256)}/f`, `"${"x".repeat(200)}"... is longer than 255 bytes, which no file name can be`],
  [`a/${"é".repeat(128)}`, "is longer than 255 bytes"],
  ["é/".repeat(1366), "is longer than a path can be"],
])("the name %s", async (name, message) => {
  const scanned = scanLayer(layerWith(name), { mediaType: LAYER_TYPE, digest: "sha256:1", size: 1 }, new Budget(DEFAULT_LIMITS), signal);
  if (message === undefined) await expect(scanned).resolves.toBeUndefined();
  else await expect(scanned).rejects.toThrow(expect.objectContaining({ code: "image-refused", message: expect.stringContaining(message) }));
});

const { signal } = new AbortController();

/** An archive with one empty file, whose name is in an entry of GNU's format before it. Returns its path. */
function layerWith(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), "runt-scan-"));
  made.push(directory);
  const bytes = Buffer.from(`${name}\0`);
  const content = Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
  const path = join(directory, "layer");
  writeFileSync(path, Buffer.concat([header("L", bytes.length), content, header("0", 0), Buffer.alloc(1024)]), { mode: 0o600 });
  return path;
}

function header(type: string, size: number): Buffer {
  const block = Buffer.alloc(512);
  block.write("f", 0);
  block.write(size.toString(8).padStart(11, "0"), 124);
  block.write("        ", 148);
  block.write(type, 156);
  block.write("ustar  \0", 257);
  block.write(
    `${block
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, "0")}\0 `,
    148,
  );
  return block;
}
