/** Every broken bundle has its one finding for the real program, and its clean twin has none. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { configText, findings, makeFiles, within } from "./bundle.ts";
import { CASES } from "./cases/index.ts";

const WANTED = 300;
const directory = mkdtempSync(join(tmpdir(), "runt-findings-"));
// The root of a user namespace reaches it.
chmodSync(directory, 0o755);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test(`there are ${WANTED} of them, all different`, () => {
  expect(CASES.length).toBeGreaterThanOrEqual(WANTED);
  expect(new Set(CASES.map((one) => JSON.stringify([one.broken, one.text, one.files, one.facts]))).size).toBe(CASES.length);
});

test.each(CASES.map((one, index) => [`${one.code} ${one.at ?? Object.keys(one.broken)[0]}`, one, index] as const))(
  "%s",
  (_, one, index) => {
    const place = join(directory, String(index));
    within(place, () => {
      makeFiles(place, one.files);
      const pointer = one.at ?? Object.keys(one.broken)[0];
      expect(findings(one, place, configText(one, one.broken, place, true))).toEqual([{ code: one.code, pointer }]);
      expect(findings(one, place, configText(one, one.fixed ?? {}, place, false))).toEqual([]);
    });
  },
);
