import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Durability, placeAtomically, removeOwnFile, writeAtomically, writeAtomicallyLater, writeOwnFile } from "./write.ts";

let directory = "";
let path = "";
let victim = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-write-"));
  path = join(directory, "record.json");
  victim = join(directory, "victim");
  writeFileSync(victim, "precious");
});
afterEach(() => rmSync(directory, { recursive: true }));

const DURABILITIES: readonly Durability[] = ["none", "file", "file-and-directory"];
const writings: readonly (readonly [string, () => unknown])[] = [
  ["anew", () => writeOwnFile(path, "own", 0o644)],
  ...DURABILITIES.flatMap((durability): [string, () => unknown][] => [
    [`atomically, ${durability}`, () => writeAtomically(path, "own", { durability, mode: 0o644 })],
    [`later, ${durability}`, () => writeAtomicallyLater(path, "own", { durability, mode: 0o644 })],
  ]),
];

test.each(writings)("a file that is written %s has its content and its mode, twice", async (_, write) => {
  for (let time = 0; time < 2; time++) await write();
  expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["own", 0o644]);
  expect(readdirSync(directory).sort()).toEqual(["record.json", "victim"]);
});

test.each(writings)("a file that is written %s follows no link, and waits for no reader of a FIFO", async (_, write) => {
  for (const name of [path, `${path}.new`]) {
    const others = [
      () => symlinkSync(victim, name),
      () => linkSync(victim, name),
      () => execFileSync("mkfifo", [name]),
      () => mkdirSync(name),
    ];
    for (const make of others) {
      make();
      try {
        await write();
      } catch (error) {
        expect((error as { code?: string }).code).toMatch(/EISDIR/);
      }
      expect(readFileSync(victim, "utf8")).toBe("precious");
      for (const one of [path, `${path}.new`]) rmSync(one, { recursive: true, force: true });
    }
  }
});

test("a link in the place of the name is replaced, and what it leads to stays", () => {
  symlinkSync(victim, path);
  writeAtomically(path, "own", { durability: "file" });
  expect([readFileSync(path, "utf8"), readFileSync(victim, "utf8"), statSync(path).mode & 0o777]).toEqual(["own", "precious", 0o600]);
  symlinkSync(victim, `${path}.link`);
  removeOwnFile(`${path}.link`);
  removeOwnFile(`${path}.link`);
  mkdirSync(`${path}.link`);
  removeOwnFile(`${path}.link`);
  expect(readFileSync(victim, "utf8")).toBe("precious");
});

test("a directory that is held by descriptor", () => {
  const fd = openSync(directory, "r");
  try {
    writeAtomically(`/proc/self/fd/${fd}/record.json`, "own", { durability: "file-and-directory" });
  } finally {
    closeSync(fd);
  }
  expect(readFileSync(path, "utf8")).toBe("own");
});

test("a directory in the place of a file is removed only if it is empty", () => {
  mkdirSync(join(path, "below"), { recursive: true });
  expect(() => removeOwnFile(path)).toThrow("EISDIR");
  expect(readdirSync(path)).toEqual(["below"]);
});

describe("a failure leaves the old file and nothing else", () => {
  beforeEach(() => writeAtomically(path, "old", { durability: "none" }));

  test("of the rename: a directory has the name", async () => {
    mkdirSync(join(directory, "theirs/below"), { recursive: true });
    expect(() => writeAtomically(join(directory, "theirs"), "new", { durability: "none" })).toThrow("EISDIR");
    await expect(writeAtomicallyLater(join(directory, "theirs"), "new", { durability: "file" })).rejects.toThrow("EISDIR");
    expect(readdirSync(directory).sort()).toEqual(["record.json", "theirs", "victim"]);
  });

  test.skipIf(process.geteuid?.() === 0)("of the first step: the directory takes nothing", () => {
    chmodSync(directory, 0o500);
    expect(() => writeAtomically(path, "new", { durability: "none" })).toThrow("EACCES");
    chmodSync(directory, 0o700);
    expect(readFileSync(path, "utf8")).toBe("old");
  });
});

test("a process that is killed in the middle leaves a whole file, and the next write removes what it was making", async () => {
  // Two contents by turns, each of one character: a file that is not whole has a mixture, or another length.
  const source = `
    import { writeAtomically } from ${JSON.stringify(join(import.meta.dirname, "write.ts"))};
    console.log("begun");
    for (let turn = 0; ; turn++)
      writeAtomically(${JSON.stringify(path)}, (turn % 2 ? "a" : "b").repeat(1 << 20), { durability: "none" });`;
  const program = join(directory, "writer.ts");
  writeFileSync(program, source);
  for (let round = 0; round < 4; round++) {
    const child = spawn(process.execPath, ["--import", "tsx", program], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    await new Promise((resolve) => setTimeout(resolve, 20 + 17 * round));
    child.kill("SIGKILL");
    await once(child, "exit");
    try {
      expect(readFileSync(path, "utf8")).toMatch(/^(?:a{1048576}|b{1048576})$/);
    } catch (error) {
      // It was killed before its first write had ended.
      expect([(error as { code?: string }).code, round]).toEqual(["ENOENT", 0]);
    }
  }
  writeFileSync(`${path}.new`, "half", { mode: 0o600 });
  writeAtomically(path, "whole", { durability: "none" });
  expect([readFileSync(path, "utf8"), readdirSync(directory).sort()]).toEqual(["whole", ["record.json", "victim", "writer.ts"]]);
});

test("a file that something else has written gets its name", () => {
  writeFileSync(`${path}.made`, "made");
  placeAtomically(`${path}.made`, path, "file-and-directory");
  expect([readFileSync(path, "utf8"), readdirSync(directory).sort()]).toEqual(["made", ["record.json", "victim"]]);
});
