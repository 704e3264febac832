import { linkSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { linkOrCopy } from "./shelf.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-shelf-"));
  writeFileSync(join(directory, "blob"), "content");
});
afterEach(() => rmSync(directory, { recursive: true }));

const failing = (code: string): typeof linkSync => {
  return () => {
    throw Object.assign(new Error(`${code}: link`), { code });
  };
};
const passOn = (link?: typeof linkSync) => linkOrCopy(join(directory, "blob"), join(directory, "given"), "sha256:d", link);

test("a blob is passed on by a further name, and as a copy where a file can have no more names", async () => {
  await passOn();
  expect(statSync(join(directory, "blob")).nlink).toBe(2);
  rmSync(join(directory, "given"));
  for (const code of ["EPERM", "EOPNOTSUPP", "EMLINK", "EXDEV"]) {
    await passOn(failing(code));
    expect([readFileSync(join(directory, "given"), "utf8"), statSync(join(directory, "blob")).nlink]).toEqual(["content", 1]);
    rmSync(join(directory, "given"));
  }
});

test("a blob that is gone, or that cannot be passed on, is an error of its image", async () => {
  await expect(passOn(failing("EIO"))).rejects.toMatchObject({
    name: "ImageError",
    message: "sha256:d: its blob cannot be passed on: EIO: link",
  });
  rmSync(join(directory, "blob"));
  for (const link of [linkSync, failing("EXDEV")])
    await expect(passOn(link)).rejects.toMatchObject({ name: "ImageError", code: "image-invalid" });
});
