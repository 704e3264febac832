/**
 * `validate` says an error when `create` refuses, and only then. `make test-findings` tries 20,000 edits of real configurations (RUNT_AGREEMENT,
 * RUNT_AGREEMENT_SEED), `make test` the first few.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { disagreementOf } from "./agreement/accepted.ts";
import { BASES } from "./agreement/bases.ts";
import { NAMED } from "./agreement/named.ts";
import { edited, namedEdit, removeCgroups, tryAll, unedited } from "./agreement/trial.ts";

const COUNT = Number(process.env["RUNT_AGREEMENT"] ?? 100);
const SEED = Number(process.env["RUNT_AGREEMENT_SEED"] ?? 1);
/** Of `make test` the limit of the lane holds. */
const TIMEOUT = process.env["RUNT_AGREEMENT"] === undefined ? {} : { timeout: COUNT * 2_000 };
const JOBS = Number(process.env["RUNT_AGREEMENT_JOBS"] ?? 2);

const directory = mkdtempSync(join(tmpdir(), "runt-agree-"));
// The root of a user namespace reaches it.
chmodSync(directory, 0o755);
afterAll(() => {
  removeCgroups();
  rmSync(directory, { recursive: true, force: true });
});

test(`${BASES.length} real configurations are taken as they stand`, async () => {
  const troubles: string[] = [];
  const all = BASES.map((_, number) => unedited(number));
  await tryAll(directory, all, JOBS, ({ base, errors, refusal, dry }) => {
    if (errors.length > 0 || refusal !== undefined || dry !== undefined)
      troubles.push(`${base}: validate [${errors.join("; ")}] create [${refusal ?? "done"}] dry run [${dry ?? "done"}]`);
  });
  expect(troubles).toEqual([]);
});

test(`${NAMED.length} edits on which they have disagreed`, async () => {
  const found = new Map<string, string>();
  const all = NAMED.map(([title, edit], number) => namedEdit(number, title, edit));
  await tryAll(directory, all, JOBS, ({ base, errors, refusal }) => {
    found.set(base, `${refusal === undefined ? "taken" : "refused"}: ${errors.map((error) => error.split(" ", 1)[0]).join(" ")}`);
  });
  const wanted = NAMED.map(([title, , code]) => [title, code === undefined ? "taken: " : `refused: ${code}`]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(wanted));
});

/** RUNT_AGREEMENT_NUMBERS=201,927: these alone. */
const NUMBERS = process.env["RUNT_AGREEMENT_NUMBERS"]?.split(",").map(Number);

function* edits() {
  for (const number of NUMBERS ?? []) yield edited(SEED, number);
  for (let number = 0; NUMBERS === undefined && number < COUNT; number++) yield edited(SEED, number);
}

test(`validate and create agree on ${COUNT} edits (seed ${SEED})`, TIMEOUT, async () => {
  const troubles: string[] = [];
  let [tried, refused] = [0, 0];
  await tryAll(directory, edits(), JOBS, (outcome) => {
    tried++;
    if (outcome.refusal !== undefined) refused++;
    const kind = disagreementOf(outcome);
    if (kind === undefined) return;
    const { number, base, errors, refusal, dry, text } = outcome;
    const trouble = `${number} (${base}) ${kind}: validate [${errors.join("; ")}] create [${refusal ?? "done"}] dry run [${dry ?? "done"}]`;
    troubles.push(trouble);
    // At once: all of them take an hour.
    console.log(trouble);
    if (process.env["RUNT_AGREEMENT_TEXT"]) console.log(`${number}: ${text}`);
  });
  console.log(`${tried} edits (seed ${SEED}), ${refused} of them refused`);
  expect(troubles).toEqual([]);
  if (NUMBERS) return;
  // Edits that are all taken, or all refused, would show nothing.
  expect(refused).toBeGreaterThan(tried / 10);
  expect(refused).toBeLessThan(tried * 0.9);
});
