import { expect, test } from "vitest";
import { Directories } from "./scan.ts";

test("each directory counts once, whoever brings it, and however its name is written", () => {
  const directories = new Directories();
  const found = ["a/b/c/f", "a/b/c/g", "/a//b/./x", "a/d/", "./a/d/e/f", "f"].map((name) => directories.impliedBy(name));
  expect(found).toEqual([3, 0, 0, 0, 2, 0]);
});
