/** That each mutant of the runtime can be made. That it is killed is shown by `make mutants`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MUTANTS } from "../mutants/catalogue.ts";
import { BESIDE, ELSEWHERE, EXPLAINED } from "../mutants/survivors.ts";
import { REPOSITORY } from "../support/programs.ts";

const IDS = MUTANTS.map(({ id }) => id);

test("ids are unique, and each reason is for one of them", () => {
  expect(new Set(IDS).size).toBe(IDS.length);
  expect([BESIDE, ELSEWHERE, EXPLAINED].flatMap((reasons) => Object.keys(reasons)).filter((id) => !IDS.includes(id))).toEqual([]);
});

test.each(MUTANTS)("mutant $id", ({ file, change }) => {
  const source = readFileSync(join(REPOSITORY, file), "utf8");
  expect(change(source)).not.toBe(source);
});
