import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeTaskDirectory } from "./resource.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-task-directory-"));
});
afterEach(() => rmSync(directory, { recursive: true }));
const at = (name: string) => join(directory, name);

test("a link in the place of a task's directory is removed itself, and a directory that is there keeps what is in it", () => {
  mkdirSync(at("theirs"));
  symlinkSync(at("theirs"), at("own"));
  makeTaskDirectory(at("own"));
  expect([lstatSync(at("own")).isDirectory(), lstatSync(at("own")).mode & 0o777, existsSync(at("theirs"))]).toEqual([true, 0o700, true]);
  writeFileSync(at("own/log"), "");
  makeTaskDirectory(at("own"));
  expect(readdirSync(at("own"))).toEqual(["log"]);
});
