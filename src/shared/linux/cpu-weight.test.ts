import { expect, test } from "vitest";
import { cpuWeight } from "./cpu-weight.ts";

test.each([
  [0n, 1n],
  [2n, 1n],
  [10n, 4n],
  [100n, 17n],
  [256n, 35n],
  [512n, 59n],
  [1024n, 100n],
  [2048n, 174n],
  [4096n, 303n],
  [10240n, 639n],
  [131072n, 5478n],
  [262144n, 10000n],
  [9999999n, 10000n],
])("%d shares are weight %d", (shares, weight) => {
  expect(cpuWeight(shares)).toBe(weight);
});
