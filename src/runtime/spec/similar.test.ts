import { expect, it } from "vitest";
import { closeNames, editDistance } from "./similar.ts";

it.each([
  ["", "", 0],
  ["a", "", 1],
  ["ehco", "echo", 1],
  ["python", "python3", 1],
  ["kitten", "sitting", 3],
] as const)("distance of %j and %j", (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance);
  expect(editDistance(b, a)).toBe(distance);
});

it("gives at most three names, the closest first, each once", () => {
  expect(closeNames("ehco", ["echo", "who", "each", "echo", "ls"])).toEqual(["echo"]);
  expect(closeNames("python", ["python3", "python2", "pyton", "pythons", "perl"])).toEqual(["python2", "python3", "pythons"]);
  expect(closeNames("bash", ["ash", "hush", "dash"])).toEqual(["ash", "dash"]);
});

it("counts another case as the same name", () => {
  expect(closeNames("NGINX", ["nginx"])).toEqual(["nginx"]);
});

it("does not offer what has nothing in common", () => {
  expect(closeNames("x", ["[", "y"])).toEqual([]);
});
