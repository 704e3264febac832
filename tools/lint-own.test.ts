import { expect, test } from "vitest";
import { compare } from "./lint-in-root.ts";
import { ownCalls } from "./lint-own/calls.ts";

test("calls that act on what a name or a number leads to are found by the import, and others are not", () => {
  const source = `
    import { mkdirSync, openSync, readFileSync, renameSync as move, rmSync, rmdirSync, type Stats } from "node:fs";
    import { rm, writeFile } from "node:fs/promises";
    import { readFile } from "./own.ts";
    mkdirSync(path); rmdirSync(path); readFile(path); engine.open(path);
    const fd = openSync(path, "r");
    readFileSync(join(directory, "record"), "utf8");
    move(one, other);
    await rm(path, { recursive: true }).catch(() => {});
    await writeFile(path, text);
    process.kill(-pid, "SIGKILL");
  `;
  expect(ownCalls(source)).toEqual([
    "openSync(path)",
    'readFileSync(join(directory, "record"))',
    "move(one, other)",
    "rm(path)",
    "writeFile(path)",
    "process.kill(-pid)",
  ]);
});

test("a new one is told with the list that it has to be in", () => {
  expect(compare(new Map([["src/engine/new.ts", ["rmSync(path)"]]]), {}, "tools/lint-own/allowed.ts")).toEqual([
    "src/engine/new.ts: rmSync(path): is not in the list (tools/lint-own/allowed.ts)",
  ]);
});
