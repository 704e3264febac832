import { expect, test } from "vitest";
import { chosen, LANES, MODES, machinesOf } from "./lanes.ts";

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

test("a lane whose power is cut has a machine of its own, and knows how many times", () => {
  const named = (name: string) => LANES.filter((lane) => lane.name === name);
  const [guest, power] = [named("guest"), named("power")];
  expect(machinesOf("v1", [...guest, ...power], false)).toEqual([{ name: "v1", mode: "v1", lanes: guest, cuts: 0 }]);
  const [first, second, ...more] = machinesOf("v2", [...guest, ...power], true);
  expect([first, more]).toEqual([{ name: "v2", mode: "v2", lanes: guest, cuts: 0 }, []]);
  expect(second).toMatchObject({ name: "v2-power", mode: "v2", cuts: power[0]?.cuts?.long });
  expect(second?.lanes[0]?.command).toMatch(/^RUNT_TEST_CUTS=20 node /);
  expect(machinesOf("v2", power, false).map(({ cuts }) => cuts)).toEqual([2]);
});
