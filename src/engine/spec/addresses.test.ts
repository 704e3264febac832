import { expect, test } from "vitest";
import { dotted, overlaps, rangeOf, without } from "./addresses.ts";

test("an address is a network of one, and other words are none", () => {
  expect(rangeOf("10.1.2.3")).toEqual({ first: 0x0a010203, last: 0x0a010203 });
  expect(rangeOf("10.1.2.3/16")).toEqual({ first: 0x0a010000, last: 0x0a01ffff });
  for (const text of ["default", "10.1.2", "10.1.2.3/33", "fd00::/64", "10.1.2.3/x", "10.1.2.256", "10.01.2.3", "10.1.2.3.4", "10.1.2.3/"])
    expect(rangeOf(text)).toBeUndefined();
  expect(dotted(0xac140001)).toBe("172.20.0.1");
  expect([overlaps(rangeOf("10.0.0.0/8")!, rangeOf("10.9.0.1")!), overlaps(rangeOf("10.0.0.0/9")!, rangeOf("10.128.0.0/9")!)]).toEqual([
    true,
    false,
  ]);
});

test("what is left of a range is in order, without what is taken once or twice, or lies outside", () => {
  const range = { first: 1, last: 9 };
  expect(without(range, [])).toEqual([range]);
  expect(without(range, [9, 1, 5, 5, 6, 20, 0])).toEqual([
    { first: 2, last: 4 },
    { first: 7, last: 8 },
  ]);
  expect(without({ first: 1, last: 1 }, [1])).toEqual([]);
});
