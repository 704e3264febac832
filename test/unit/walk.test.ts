import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmdirSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Visitor, walk } from "../../src/runtime/host/walk.ts";

let top = "";
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "runt-walk-"));
});
// Node removes nothing whose path is too long.
afterEach(() => void execFileSync("rm", ["-rf", top]));

const make = (...paths: readonly string[]) => {
  for (const path of paths) mkdirSync(join(top, path), { recursive: true });
};

/** What is visited, below the top; `change`: by name of a directory that is entered. */
function visits(change: Readonly<Record<string, () => void>> = {}, skip?: string): { entered: string[]; left: string[]; missed: number } {
  const [entered, left]: string[][] = [[], []];
  let missed = 0;
  const visitor: Visitor = {
    enter(place) {
      const name = place.name().slice(top.length);
      entered!.push(name);
      change[name]?.();
      return name !== skip;
    },
    leave: (place) => void left!.push(place.name().slice(top.length)),
    missed: () => void missed++,
  };
  walk(top, visitor);
  return { entered: entered!, left: left!, missed };
}

test("a directory comes before what is below it, and is left after it", () => {
  make("a/b/c", "a/d", "e");
  const { entered, left, missed } = visits();
  expect([...entered].sort()).toEqual(["", "/a", "/a/b", "/a/b/c", "/a/d", "/e"]);
  for (const path of entered) expect(entered.indexOf(path.slice(0, path.lastIndexOf("/")))).toBeLessThanOrEqual(entered.indexOf(path));
  expect([...left].sort()).toEqual([...entered].sort());
  expect(left.indexOf("/a/b/c")).toBeLessThan(left.indexOf("/a/b"));
  expect(left.at(-1)).toBe("");
  expect(missed).toBe(0);
});

test("what is refused is neither looked into nor left", () => {
  make("a/b");
  expect(visits({}, "/a")).toEqual({ entered: ["", "/a"], left: [""], missed: 0 });
});

test("links are not followed", () => {
  make("a");
  symlinkSync("/", join(top, "link"));
  expect(visits()).toEqual({ entered: ["", "/a"], left: ["/a", ""], missed: 0 });
});

test("directories deeper than any path", () => {
  let at = top;
  const steps: string[] = [];
  // Within the limit each time: the upper half is put into the lower one at the end.
  for (let index = 0; index < 30; index++) {
    const name = `${index}-`.padEnd(100, "x");
    steps.push(name);
    at = join(at, name);
  }
  mkdirSync(at, { recursive: true });
  const upper = join(top, "upper");
  mkdirSync(join(upper, ...steps), { recursive: true });
  renameSync(join(top, steps[0]!), join(upper, ...steps, "lower"));
  let deepest = 0;
  walk(top, {
    enter: ({ depth }) => {
      deepest = Math.max(deepest, depth);
      return true;
    },
  });
  expect(deepest).toBe(61);
});

test("a branch that goes while it is visited does not end the walk", () => {
  make("a/b/c", "z");
  const remove = () => {
    for (const path of ["a/b/c", "a/b", "a"]) rmdirSync(join(top, path));
  };
  const { entered, left } = visits({ "/a/b/c": remove });
  expect([...entered].sort()).toEqual(["", "/a", "/a/b", "/a/b/c", "/z"]);
  expect(left.at(-1)).toBe("");
});

test("whoever moves a directory away does not lead the walk along", () => {
  make("a/b/c", "a/d", "z", "outside/secret");
  const root = top;
  top = join(top, "a");
  const elsewhere = join(root, "outside/moved");
  const { entered } = visits({ "/b/c": () => renameSync(join(top, "b"), elsewhere) });
  top = root;
  expect([...entered].sort()).toEqual(["", "/b", "/b/c", "/d"].sort());
});
