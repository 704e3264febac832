import { expect, test } from "vitest";
import { andFile } from "./file.ts";

test("several files are kept in their order, and a name that is empty is none", () => {
  expect(andFile("a", undefined)).toBe("a");
  expect(andFile("c", andFile("b", "a"))).toEqual(["a", "b", "c"]);
  // A shell writes this for a variable that is not set: it is neither the current directory nor a directory of Quadlet.
  expect(() => andFile("", undefined)).toThrow("the name of a file is empty");
  expect(() => andFile("", "a")).toThrow("the name of a file is empty");
});
