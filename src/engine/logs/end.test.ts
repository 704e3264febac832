import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { endOfLog } from "./end.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-logs-"));
  path = join(directory, "log");
});
afterEach(() => rmSync(directory, { recursive: true }));

const record = (text: string, stream = "stdout", tag = "F") => `2026-01-02T03:04:05.000000000Z ${stream} ${tag} ${text}\n`;
const end = (lines: number, bytes: number) => endOfLog(path, { lines, bytes }).toString();

test("the last lines of both streams, over rotated files; what the pump says is none of them", () => {
  writeFileSync(`${path}.1`, record("one") + record("two", "stderr"));
  writeFileSync(path, record("lost", "runt") + record("thr", "stdout", "P") + record("ee") + record("four", "stderr", "P"));
  expect(end(2, 100)).toBe("two\nthree\nfour");
  expect(end(80, 100)).toBe("one\ntwo\nthree\nfour");
});

test("no more bytes than are wanted, from the end, however long a line is", () => {
  writeFileSync(path, record("x".repeat(200_000)) + record("the end"));
  expect(end(80, 12)).toBe("xxx\nthe end\n");
  expect(end(80, 3)).toBe("nd\n");
});

test("a log that is not there is empty, and so is what a link leads to", () => {
  expect(end(1, 10)).toBe("");
  writeFileSync(join(directory, "other"), record("secret"));
  symlinkSync(join(directory, "other"), path);
  expect(end(1, 10)).toBe("");
});
