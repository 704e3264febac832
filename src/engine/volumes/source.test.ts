import { chmodSync, closeSync, fstatSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openBelow } from "./source.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-source-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const opened = (part: string, mayMake = true) => {
  const fd = openBelow(directory, part, mayMake);
  try {
    return fstatSync(fd).ino;
  } finally {
    closeSync(fd);
  }
};

test("a missing part of a volume is made with the mode of the volume, and one that is there stays as it is", () => {
  chmodSync(directory, 0o2777);
  mkdirSync(join(directory, "there"));
  chmodSync(join(directory, "there"), 0o700);
  expect(() => opened("there/new", false)).toThrow("there/new is not there");
  expect(opened("there/new")).toBe(statSync(join(directory, "there/new")).ino);
  const modeOf = (name: string) => statSync(join(directory, name)).mode & 0o7777;
  expect([modeOf("there"), modeOf("there/new")]).toEqual([0o700, 0o2777]);
  writeFileSync(join(directory, "file"), "");
  expect(opened("file")).toBe(statSync(join(directory, "file")).ino);
});

test("a link that a container has put into the volume is not followed, and nothing is made behind it", () => {
  mkdirSync(join(directory, "outside"));
  mkdirSync(join(directory, "volume"));
  symlinkSync("../outside", join(directory, "volume/link"));
  for (const part of ["volume/link", "volume/link/new"]) expect(() => opened(part)).toThrow("volume/link is a symbolic link");
  expect(() => opened("volume/../outside/new")).toThrow("has .. in it");
  expect(() => statSync(join(directory, "outside/new"))).toThrow("ENOENT");
});
