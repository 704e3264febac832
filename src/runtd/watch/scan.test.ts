import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { canBeDeaf, mountKnownDeaf } from "../../../test/support/deaf-mount.ts";
import { Servers } from "../../node/index.ts";
import { filesBelow } from "./scan.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-scan-"));
  // After the mounts of a test are gone, and not before (afterEach).
  onTestFinished(() => rmSync(directory, { recursive: true }));
});

function put(path: string): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true, mode: 0o755 });
  writeFileSync(join(directory, path), "");
}
const within = (paths: Iterable<string>) => [...paths].map((path) => path.slice(directory.length + 1));

test("files of tasks in order, without hidden names, and of a Compose project only its file", async () => {
  for (const path of ["b.yaml", "a.yml", "c.json", "README.md", ".git/config.yaml", ".env.yaml", "shop/compose.yml", "shop/prometheus.yml"])
    put(path);
  for (const path of ["shop/compose.yaml", "shop/conf/x.yaml", "deep/er/d.yaml"]) put(path);
  const { files, refused } = await filesBelow(directory, new Servers());
  expect(within(files.keys())).toEqual(["a.yml", "b.yaml", "c.json", "deep/er/d.yaml", "shop/compose.yaml"]);
  expect([...refused]).toEqual([]);
});

test("links, files of Quadlet, directories that others may write, and deep ones are refused by name", async () => {
  put("a.yaml");
  put("web.container");
  symlinkSync(join(directory, "a.yaml"), join(directory, "link.yaml"));
  put("open/b.yaml");
  chmodSync(join(directory, "open"), 0o777);
  put("1/2/3/4/5/6/7/8/9/c.yaml");
  const { files, refused } = await filesBelow(directory, new Servers());
  expect(within(files.keys())).toEqual(["a.yaml"]);
  expect(within(refused.keys())).toEqual(["1/2/3/4/5/6/7/8/9", "link.yaml", "open", "web.container"]);
  expect([...refused.values()]).toEqual([
    "it is more than 8 directories deep",
    "it is a symbolic link",
    expect.stringContaining("may be written by other users"),
    expect.stringContaining("files of Quadlet are not watched"),
  ]);
  chmodSync(directory, 0o777);
  await expect(filesBelow(directory, new Servers())).rejects.toThrow("may be written by other users");
});

test.skipIf(!canBeDeaf)("a mount that does not answer is refused with its name, and one that is not read keeps nothing", async () => {
  for (const path of ["a.yaml", "inner/b.yaml", "shop/compose.yaml", "shop/data/x", ".hidden/x", "beside/c.yaml", "inner/more/d.yaml"])
    put(path);
  for (const path of ["inner/more", "shop/data", ".hidden"]) await mountKnownDeaf(join(directory, path));
  const link = `${directory}-link`;
  symlinkSync(directory, link);
  onTestFinished(() => rmSync(link));
  for (const at of [directory, link]) {
    const { files, refused } = await filesBelow(at, new Servers());
    expect([...files.keys()]).toEqual(["a.yaml", "beside/c.yaml", "inner/b.yaml", "shop/compose.yaml"].map((path) => join(at, path)));
    const inner = join(directory, "inner/more");
    expect([...refused]).toEqual([[join(at, "inner/more"), `${inner} does not answer within 10 s: deaf (fuse) is mounted at ${inner}`]]);
  }
});
