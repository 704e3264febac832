/** That each mutant of the engine can be made, and has a test of its row in its file. That it is killed is shown by `make engine-mutants`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ENGINE_ROWS } from "../../../tools/engine-rows.ts";
import { titlesIn } from "../../../tools/gen-engine-behaviour.ts";
import { ENGINE_MUTANTS } from "../../mutants/engine/catalogue.ts";
import { mutated, rowOf } from "../../mutants/engine/mutant.ts";
import { REPOSITORY } from "../../support/programs.ts";

test("ids are unique, and of rows", () => {
  const ids = ENGINE_MUTANTS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ENGINE_MUTANTS.map(rowOf).filter((row) => !ENGINE_ROWS.includes(row))).toEqual([]);
});

test.each(ENGINE_MUTANTS)("mutant $id: $fault", (mutant) => {
  expect(mutated(mutant)).not.toBe(readFileSync(join(REPOSITORY, mutant.file), "utf8"));
  const titles = titlesIn(mutant.test, readFileSync(join(REPOSITORY, mutant.test), "utf8"));
  expect(titles.filter(({ title }) => new RegExp(`\\b${rowOf(mutant)}\\b`).test(title))).not.toEqual([]);
});
