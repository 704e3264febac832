/** What is beside a file that is replaced belongs to somebody else, whatever its name is. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

const NUMBER = 4321;
/** Called before a rename, which then fails. */
let failing: ((from: string) => void) | undefined;

vi.mock("../../src/runtime/host/index.ts", async () => {
  const fs = await import("node:fs");
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = fs.constants;
  return {
    O: { WRONLY: O_WRONLY, CREAT: O_CREAT, EXCL: O_EXCL, NOFOLLOW: O_NOFOLLOW },
    close: fs.closeSync,
    fstat: (fd: number) => fs.fstatSync(fd, { bigint: true }),
    getpid: () => NUMBER,
    isErrno: (error: { code?: string }, ...codes: readonly string[]) => codes.includes(error.code ?? ""),
    lstat: (path: string) => fs.lstatSync(path, { bigint: true, throwIfNoEntry: false }),
    open: fs.openSync,
    readFile: (path: string) => fs.readFileSync(path, "utf8"),
    rename(from: string, to: string) {
      if (failing === undefined) return fs.renameSync(from, to);
      failing(from);
      throw Object.assign(new Error("no space left on device"), { errno: 28, code: "ENOSPC" });
    },
    unlink: fs.unlinkSync,
    write: fs.writeSync,
  };
});

const { replaceFile } = await import("../../src/runtime/execute/fresh-file.ts");

let place = "";
const at = (name: string) => join(place, name);
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "runt-fresh-"));
  failing = undefined;
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

it("gives the name to a new file, with the permissions that are asked for", () => {
  writeFileSync(at("file"), "former");
  replaceFile(at("file"), "new");
  expect([readFileSync(at("file"), "utf8"), statSync(at("file")).mode & 0o777]).toEqual(["new", 0o600]);
  replaceFile(at("file"), "newer", { mode: 0o640, number: 7 });
  expect([readFileSync(at("file"), "utf8"), statSync(at("file")).mode & 0o777]).toEqual(["newer", 0o640]);
  expect(readdirSync(place)).toEqual(["file"]);
});

it("leaves a file, and a directory, that has the first name already", () => {
  writeFileSync(at(`file.${NUMBER}`), "of the user");
  mkdirSync(at("file.7"));
  replaceFile(at("file"), "new");
  replaceFile(at("file"), "newer", { number: 7 });
  expect(readdirSync(place).sort()).toEqual(["file", `file.${NUMBER}`, "file.7"]);
  expect([readFileSync(at(`file.${NUMBER}`), "utf8"), readFileSync(at("file"), "utf8")]).toEqual(["of the user", "newer"]);
});

it("tells the error of a file that cannot be made", () => {
  expect(() => replaceFile(at("absent/file"), "new")).toThrow(expect.objectContaining({ code: "ENOENT", syscall: "open" }));
});

it("removes its own file when the name cannot be given, and none that is in its place by then", () => {
  failing = () => {};
  expect(() => replaceFile(at("file"), "new")).toThrow("no space left");
  expect(readdirSync(place)).toEqual([]);
  failing = (from) => {
    rmSync(from);
    writeFileSync(`${from}.other`, "of the user");
    writeFileSync(from, "of the user");
  };
  expect(() => replaceFile(at("file"), "new")).toThrow("no space left");
  expect(existsSync(at(`file.${NUMBER}`))).toBe(true);
  failing = (from) => rmSync(from);
  expect(() => replaceFile(at("file2"), "new")).toThrow("no space left");
});
