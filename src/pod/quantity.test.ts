import { expect, test } from "vitest";
import { compareQuantities, isQuantity, quantityIn, quantityPer } from "./quantity.ts";

/** Kubernetes, "Quantity": decimal exponents, suffixes of powers of 1000 and of 1024. */
test.each([
  ["0.1", 1000, 100],
  ["500m", 1000, 500],
  ["2", 1000, 2000],
  ["100u", 1000, 1],
  ["1n", 1000, 1],
  [1.5, 1000, 1500],
  ["1", 1, 1],
  ["1e3", 1, 1000],
  ["1E3", 1, 1000],
  ["12e-1", 1, 2],
  [".5Gi", 1, 2 ** 29],
  ["0.5Gi", 1, 2 ** 29],
  ["64Mi", 1, 64 * 2 ** 20],
  ["1Ki", 1, 1024],
  ["1k", 1, 1000],
  ["1M", 1, 10 ** 6],
  ["1G", 1, 10 ** 9],
  ["2T", 1, 2 * 10 ** 12],
  ["1P", 1, 10 ** 15],
  ["1Ti", 1, 2 ** 40],
  ["1Pi", 1, 2 ** 50],
  ["128974848000m", 1, 128974848],
])("P6 quantities of Kubernetes are counted exactly (%s in parts of 1/%d is %d)", (text, parts, expected) => {
  expect(quantityIn(text, parts)).toBe(expected);
});

test.each(["", "1 Gi", "Gi", "1KI", "1mi", "1e", "1e3Mi", "--1", "0x10", "1,5", "∞"])(
  "P6 what is no quantity of Kubernetes is refused (%j)",
  (text) => {
    expect(isQuantity(text)).toBe(false);
    expect(() => quantityIn(text)).toThrow(RangeError);
  },
);

test("P6 what no host has is the largest exact number, and is compared exactly", () => {
  expect([quantityIn("16Ei"), quantityIn("9Ei", 1000)]).toEqual([Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);
  expect([compareQuantities("10Pi", "20Pi"), compareQuantities("1024Ki", "1Mi"), compareQuantities("1", "999m")]).toEqual([-1, 0, 1]);
});

test("how often a divisor goes into a quantity, rounded up", () => {
  expect(quantityPer("64Mi", "1Mi")).toBe("64");
  expect(quantityPer("250m", "1")).toBe("1");
  expect(quantityPer("250m", "1m")).toBe("250");
});
