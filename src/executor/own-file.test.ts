import { execFileSync } from "node:child_process";
import {
  chownSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openOwnFifo, readOwnFile, writeOwnFile } from "./own-file.ts";
import { readRecord } from "./record.ts";

const { O_RDONLY, O_RDWR } = constants;
const NOBODY = 65_534;
let directory = "";
let path = "";
let victim = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "own-file-"));
  path = join(directory, "record.json");
  victim = join(directory, "victim");
  writeFileSync(victim, "precious");
});
afterEach(() => rmSync(directory, { recursive: true }));

const fifo = (at: string) => execFileSync("mkfifo", [at]);

describe("something else in the place of a file", () => {
  test.each<readonly [string, () => unknown]>([
    ["a link", () => symlinkSync(victim, path)],
    ["a FIFO", () => fifo(path)],
    ["a directory", () => mkdirSync(path)],
    ["a terabyte", () => [writeFileSync(path, "{"), truncateSync(path, 2 ** 40)]],
  ])("%s is an error at once, and not read", (_, make) => {
    make();
    expect(() => readOwnFile(path)).toThrowError(expect.objectContaining({ code: "state-unreadable" }));
    expect(() => readRecord(path, "e")).toThrowError(expect.objectContaining({ code: "state-unreadable" }));
  });

  test("none is ENOENT, as before", () => {
    expect(() => readOwnFile(path)).toThrowError(expect.objectContaining({ code: "ENOENT" }));
    expect(readRecord(path, "e")).toBeUndefined();
  });

  test.skipIf(process.geteuid?.() !== 0)(
    "a file of another user is an error; a FIFO is not, for a container's streams are its user's",
    () => {
      writeFileSync(path, "{}");
      chownSync(path, NOBODY, NOBODY);
      expect(() => readOwnFile(path)).toThrowError(expect.objectContaining({ code: "state-unreadable" }));
      rmSync(path);
      fifo(path);
      chownSync(path, NOBODY, NOBODY);
      closeSync(openOwnFifo(path, O_RDWR));
    },
  );

  test("a file is written anew beside a link that has its name", () => {
    symlinkSync(victim, path);
    writeOwnFile(path, "own");
    expect([readFileSync(path, "utf8"), readFileSync(victim, "utf8")]).toEqual(["own", "precious"]);
  });
});

test("something else in the place of a FIFO is an error; a FIFO is opened without waiting", () => {
  for (const make of [() => symlinkSync(victim, path), () => writeFileSync(path, ""), () => mkdirSync(path)]) {
    make();
    expect(() => openOwnFifo(path, O_RDONLY)).toThrowError(expect.objectContaining({ code: "state-unreadable" }));
    rmSync(path, { recursive: true });
  }
  fifo(path);
  closeSync(openOwnFifo(path, O_RDONLY));
});
