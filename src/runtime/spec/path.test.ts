import { expect, it } from "vitest";
import { absolutePath, cleanPath } from "./path.ts";

it.each([
  ["/", "/"],
  ["/a/b", "/a/b"],
  ["//a///b/", "/a/b"],
  ["/a/./b/../c", "/a/c"],
  ["/../..", "/"],
  ["/a/..b/.c", "/a/..b/.c"],
])("cleanPath %s", (path, clean) => expect(cleanPath(path)).toBe(clean));

it("absolutePath starts at the base only when it must", () => {
  expect(absolutePath("/b", "x/../y")).toBe("/b/y");
  expect(absolutePath("/b", "/x")).toBe("/x");
});
