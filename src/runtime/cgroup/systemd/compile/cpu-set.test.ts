import { expect, test } from "vitest";
import { cpuBits } from "./cpu-set.ts";

test.each([
  ["0", [0x01]],
  ["0-3", [0x0f]],
  ["1,3,5,7", [0xaa]],
  ["7-8", [0x80, 0x01]],
  ["0,16", [0x01, 0x00, 0x01]],
  [" 2 , 4-5 ", [0x34]],
  ["3,3,1-3", [0x0e]],
])("%s", (list, expected) => {
  expect([...(cpuBits(list) ?? [])]).toEqual(expected);
});

test.each(["", "a", "1-", "-1", "3-1", "1,,2", "70000", "0-99999999999"])("%j is left to the kernel", (list) => {
  expect(cpuBits(list)).toBeUndefined();
});
