import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readTrustedFile } from "./trusted-file.ts";

let directory = "";
let path = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-trusted-"));
  path = join(directory, "file");
  writeFileSync(path, "text", { mode: 0o644 });
});
afterEach(() => rmSync(directory, { recursive: true }));

test("a file of this user is read, and another content or file has another identity", () => {
  const { text, identity } = readTrustedFile(path, 4);
  expect([text, readTrustedFile(path, 4).identity]).toEqual(["text", identity]);
  rmSync(path);
  writeFileSync(path, "next");
  expect(readTrustedFile(path, 4).identity).not.toBe(identity);
});

test("what others may write, a link, a directory and a file that is too large are refused by name", () => {
  expect(() => readTrustedFile(path, 3)).toThrow(`${path} is larger than 3 bytes`);
  for (const mode of [0o664, 0o646]) {
    chmodSync(path, mode);
    expect(() => readTrustedFile(path, 9)).toThrow(`${path} may be written by other users: chmod go-w ${path}`);
  }
  chmodSync(path, 0o644);
  symlinkSync(path, join(directory, "link"));
  expect(() => readTrustedFile(join(directory, "link"), 9)).toThrow("link is a symbolic link");
  expect(() => readTrustedFile(directory, 9)).toThrow("is no regular file");
  chmodSync(directory, 0o777);
  expect(() => readTrustedFile(path, 9)).toThrow(`${directory} may be written by other users`);
  chmodSync(directory, 0o1777);
  expect(readTrustedFile(path, 9).text).toBe("text");
});

test("a link in the path is followed, and what it leads to is checked", () => {
  const inner = join(directory, "inner");
  mkdirSync(inner, { mode: 0o755 });
  writeFileSync(join(inner, "file"), "inside");
  symlinkSync(inner, join(directory, "way"));
  expect(readTrustedFile(join(directory, "way/file"), 9).text).toBe("inside");
  chmodSync(inner, 0o777);
  expect(() => readTrustedFile(join(directory, "way/file"), 9)).toThrow("may be written by other users");
});

describe.skipIf(process.geteuid?.() !== 0)("with other users (needs root)", () => {
  test("a file and a directory of another user are refused", () => {
    chownSync(path, 12_345, 0);
    expect(() => readTrustedFile(path, 9)).toThrow(`${path} belongs to the user 12345, and not to root: chown root ${path}`);
    chownSync(path, 0, 0);
    chownSync(directory, 12_345, 0);
    expect(() => readTrustedFile(path, 9)).toThrow(`${directory} belongs to the user 12345`);
  });
});
