import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFiles } from "./index.ts";

test("files have their content and mode whatever the umask says, and are made again over what a crash has left", () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-files-"));
  const umask = process.umask(0o077);
  try {
    const path = join(directory, "volume");
    makeFiles(path, { "a/b": { content: "old", encoding: "utf8", mode: 0o400 } });
    makeFiles(path, {
      "a/b": { content: "new", encoding: "utf8", mode: 0o440 },
      c: { content: "AP8=", encoding: "base64", mode: 0o644, uid: 1000, gid: 100 },
    });
    expect([statSync(join(path, "c")).uid, statSync(join(path, "c")).gid]).toEqual([1000, 100]);
    expect(readFileSync(join(path, "a/b"), "utf8")).toBe("new");
    expect([...readFileSync(join(path, "c"))]).toEqual([0, 255]);
    expect(["", "a", "a/b", "c"].map((name) => (statSync(join(path, name)).mode & 0o777).toString(8))).toEqual([
      "755",
      "755",
      "440",
      "644",
    ]);
  } finally {
    process.umask(umask);
    rmSync(directory, { recursive: true });
  }
});
