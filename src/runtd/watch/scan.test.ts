import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { filesBelow } from "./scan.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-scan-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

function put(path: string): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true, mode: 0o755 });
  writeFileSync(join(directory, path), "");
}
const within = (paths: Iterable<string>) => [...paths].map((path) => path.slice(directory.length + 1));

test("files of tasks in order, without hidden names, and of a Compose project only its file", () => {
  for (const path of ["b.yaml", "a.yml", "c.json", "README.md", ".git/config.yaml", ".env.yaml", "shop/compose.yml", "shop/prometheus.yml"])
    put(path);
  for (const path of ["shop/compose.yaml", "shop/conf/x.yaml", "deep/er/d.yaml"]) put(path);
  const { files, refused } = filesBelow(directory);
  expect(within(files.keys())).toEqual(["a.yml", "b.yaml", "c.json", "deep/er/d.yaml", "shop/compose.yaml"]);
  expect([...refused]).toEqual([]);
});

test("links, files of Quadlet, directories that others may write, and deep ones are refused by name", () => {
  put("a.yaml");
  put("web.container");
  symlinkSync(join(directory, "a.yaml"), join(directory, "link.yaml"));
  put("open/b.yaml");
  chmodSync(join(directory, "open"), 0o777);
  put("1/2/3/4/5/6/7/8/9/c.yaml");
  const { files, refused } = filesBelow(directory);
  expect(within(files.keys())).toEqual(["a.yaml"]);
  expect(within(refused.keys())).toEqual(["1/2/3/4/5/6/7/8/9", "link.yaml", "open", "web.container"]);
  expect([...refused.values()]).toEqual([
    "it is more than 8 directories deep",
    "it is a symbolic link",
    expect.stringContaining("may be written by other users"),
    expect.stringContaining("files of Quadlet are not watched"),
  ]);
  chmodSync(directory, 0o777);
  expect(() => filesBelow(directory)).toThrow("may be written by other users");
});
