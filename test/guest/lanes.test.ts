import { expect, test } from "vitest";
import { chosen, LANES, MODES } from "./lanes.ts";

test("names choose, in the order of the whole; nothing chooses all", () => {
  expect(chosen(MODES, "v1,v2", String)).toEqual(["v2", "v1"]);
  expect(chosen(MODES, "v1", String)).toEqual(["v1"]);
  expect(chosen(MODES, undefined, String)).toEqual(MODES);
});

test("a name that is none is refused", () => {
  expect(() => chosen(MODES, "v2,v3", String)).toThrow("unknown: v3; known: v2, v1");
});

test("lanes can be told apart by their names, and fit into the lines of the payload's list", () => {
  const names = LANES.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, command } of LANES) expect(`${name}${command}`).not.toMatch(/[\t\n]/);
});
