import { expect, test } from "vitest";
import { anyProgram, compare, numbersOf } from "../../../test/support/filters.ts";
import { random } from "../../../test/support/random.ts";
import { runsOf } from "../../../test/support/runs.ts";
import { SECCOMP_ACTIONS } from "../spec/index.ts";
import { compactFilter } from "./compact.ts";
import { assemble, type Instruction } from "./stub.ts";

const { SCMP_ACT_ALLOW: ALLOW } = SECCOMP_ACTIONS;
const ARCHITECTURE = 0xc000_003e;

test("comparisons with neighbours that share their answer become one", () => {
  const calls: Instruction[] = Array.from({ length: 40 }, (_, index) => [0x15, 40 - index, 0, index]);
  const filter = assemble([
    [0x20, 0, 0, 4],
    [0x15, 1, 0, ARCHITECTURE],
    [0x06, 0, 0, 0],
    [0x20, 0, 0, 0],
    ...calls,
    [0x06, 0, 0, 1],
    [0x06, 0, 0, ALLOW],
  ]);
  const short = compactFilter(filter);
  expect(short.byteLength / 8).toBe(7);
  compare(filter, numbersOf(filter), random(5));
});

test("every answer of random programs stays; what cannot be followed stays as it is", () => {
  const below = random(3);
  let shorter = 0;
  for (let round = 0; round < runsOf(2000); round++) {
    const program = anyProgram(below);
    compare(program, numbersOf(program), below);
    shorter += Number(compactFilter(program).byteLength < program.byteLength);
  }
  expect(shorter).toBeGreaterThan(50);
});

test("a jump behind the end is the kernel's to refuse", () => {
  const jump = assemble([
    [0x20, 0, 0, 4],
    [0x05, 0, 0, 0xffff_ffff],
    [0x06, 0, 0, ALLOW],
  ]);
  expect(compactFilter(jump)).toBe(jump);
});
