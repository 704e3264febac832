import { beforeEach, expect, it, vi } from "vitest";

/** Directory -> whether it has the mark. */
const tree = new Map<string, boolean>();

vi.mock("../../host/index.ts", () => ({
  ACCESS: { EXIST: 0 },
  access: (path: string) => tree.has(path),
  getxattr: (path: string) => (!tree.has(path) ? null : tree.get(path) ? "1" : undefined),
}));

const { findLevels, levelsToMake, markedParents } = await import("./levels.ts");

beforeEach(() => {
  tree.clear();
  for (const [path, isMarked] of Object.entries({
    "/c": false,
    "/c/own": true,
    "/c/own/inner": true,
    "/c/other": false,
    "/c/other/there": false,
  }))
    tree.set(path, isMarked);
});

it.each([
  [[], [], []],
  [["/c/a", "/c/other/a"], [], []],
  [["/c/a/b/e", "/c/other/d/e"], [], ["/c/a/b", "/c/a", "/c/other/d"]],
  [["/c/own/inner/a"], [], ["/c/own/inner", "/c/own"]],
  [["/c/own/a/b", "/c/a"], [], ["/c/own/a", "/c/own"]],
  [["/c/own/inner", "/c/a/b", "/c/other/there"], ["/c/own/inner", "/c/other/there"], ["/c/a"]],
  [["/c", "/no-such"], ["/c"], []],
])("of %j there are %j, and above the others %j to be made or of runt", (paths, kept, missing) => {
  expect(findLevels(paths)).toEqual({ kept, missing });
});

it("says what is to be made only where nothing is there", () => {
  expect(levelsToMake({ version: 2, paths: ["/c/own/x"] })).toEqual({ missing: ["/c/own"] });
  expect(levelsToMake({ version: 1, paths: ["/c/own/x", "/c/other/there"] })).toBeUndefined();
});

it("finds the marked levels above a directory", () => {
  expect(markedParents("/c/own/inner/x")).toEqual(["/c/own/inner", "/c/own"]);
  expect(markedParents("/c/other/x")).toEqual([]);
});
