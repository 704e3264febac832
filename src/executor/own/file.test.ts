import { execFileSync } from "node:child_process";
import {
  chownSync,
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readRecord } from "../record.ts";
import { makeOwnDirectory, openOwnFifo, overwriteOwnFile, readOwnFile } from "./file.ts";

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

describe("a file that is written", () => {
  const writings: readonly (readonly [string, () => void])[] = [["in place", () => overwriteOwnFile(path, "own", 0o644)]];

  test.each(writings)("%s has its content and its mode, twice", (_, write) => {
    for (let time = 0; time < 2; time++) write();
    expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777, readdirSync(directory).sort()]).toEqual([
      "own",
      0o644,
      ["record.json", "victim"],
    ]);
  });

  test.each(writings)("%s does not follow a link, and waits for no reader of a FIFO", (_, write) => {
    for (const name of [path, `${path}.new`]) {
      for (const make of [() => symlinkSync(victim, name), () => linkSync(victim, name), () => fifo(name), () => mkdirSync(name)]) {
        make();
        try {
          write();
        } catch (error) {
          expect((error as { code?: string }).code).toMatch(/state-unreadable|EISDIR/);
        }
        expect(readFileSync(victim, "utf8")).toBe("precious");
        for (const one of [path, `${path}.new`]) rmSync(one, { recursive: true, force: true });
      }
    }
  });
});

describe("a directory", () => {
  test("is made once, with its mode; what else has its name is an error and stays as it is", () => {
    const own = join(directory, "a/b");
    for (let time = 0; time < 2; time++) makeOwnDirectory(own, { mode: 0o711 });
    expect([statSync(own).mode & 0o777, statSync(join(directory, "a")).mode & 0o777]).toEqual([0o711, 0o700]);
    mkdirSync(join(directory, "theirs"), { mode: 0o750 });
    for (const make of [() => symlinkSync(join(directory, "theirs"), path), () => symlinkSync(victim, path), () => fifo(path)]) {
      make();
      expect(() => makeOwnDirectory(path, { mode: 0o777 })).toThrowError(expect.objectContaining({ code: "state-unreadable" }));
      rmSync(path);
    }
    expect(statSync(join(directory, "theirs")).mode & 0o777).toBe(0o750);
  });
});
