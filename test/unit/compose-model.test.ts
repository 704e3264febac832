/**
 * Compose files are here what they are for Docker Compose, field by field. Its answers are recorded (RUNT_RENEW=1 asks it anew: read the difference). `make test-compose-model` asks the
 * program itself, and compares the files of RUNT_COMPOSE_CORPUS, too: directories with a colon between them.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { CASES } from "../compose-model/cases.ts";
import { compare } from "../compose-model/compare.ts";
import { type Answer, type Asked, asked, ORACLE } from "../compose-model/oracle.ts";
import { read, variablesOf } from "../compose-model/read.ts";
import { refusalOf } from "../compose-model/reasons.ts";
import { REPOSITORY } from "../support/programs.ts";

const RECORD = join(REPOSITORY, "test/golden/compose-models.json");
const isAsked = process.env["RUNT_COMPOSE_ORACLE"] === "1";
const isRenewed = process.env["RUNT_RENEW"] === "1" && ORACLE !== undefined;
const recorded = JSON.parse(readFileSync(RECORD, "utf8")) as Record<string, unknown>;

/** Paths are those of this tree, and the program names it in its messages. */
const replaced = <T>(value: T, from: string, to: string) => JSON.parse(JSON.stringify(value).replaceAll(from, to)) as T;
const lasting = (answer: Answer, { directory }: Asked) =>
  answer.refused === undefined ? replaced({ model: answer.model }, directory, "DIRECTORY") : { refused: true };

if (isRenewed) {
  const all = Object.fromEntries(CASES.map((one) => [one.title, lasting(asked(one), one)]));
  writeFileSync(RECORD, `${JSON.stringify(all, null, 1)}\n`);
  Object.assign(recorded, all);
}

test("each case has a record, and no other one", () => expect(Object.keys(recorded)).toEqual(CASES.map(({ title }) => title)));

test.each(CASES)("$title", (one) => {
  const answer = replaced(recorded[one.title] as Answer, "DIRECTORY", one.directory);
  const ours = read(one);
  if (answer.refused !== undefined) {
    expect(ours?.findings).not.toEqual([]);
    return;
  }
  expect(ours?.findings).toEqual([]);
  const { defects, explained } = compare(ours!, { model: answer.model, environment: variablesOf(one), directory: one.directory });
  expect({ defects, explained: explained.map(({ field, why }) => `${field}: ${why}`) }).toEqual({
    defects: [],
    explained: expect.any(Array),
  });
});

test.skipIf(!isAsked || ORACLE === undefined)("the records are what Docker Compose says", () => {
  for (const one of CASES) expect({ [one.title]: lasting(asked(one), one) }).toEqual({ [one.title]: recorded[one.title] });
});

const NAME = /^(?:docker-)?compose[^/]*\.ya?ml$/i;
const CORPUS = (process.env["RUNT_COMPOSE_CORPUS"] ?? "")
  .split(":")
  .filter(Boolean)
  .flatMap((directory) =>
    readdirSync(directory, { recursive: true, encoding: "utf8" })
      .filter((path) => NAME.test(basename(path)))
      .map((path) => join(directory, path)),
  )
  .sort();
/** Where the differences and the refusals of a corpus are written, with their reasons. */
const REPORT = join(REPOSITORY, "build/test/compose-model.txt");

describe.skipIf(CORPUS.length === 0 || ORACLE === undefined)("files of others (RUNT_COMPOSE_CORPUS)", () => {
  test("95 of 100 that Docker Compose takes are taken, none that it refuses, and what is different has a reason", () => {
    const report: string[] = [];
    const count = { same: 0, explained: 0, refused: 0 };
    const defects: string[] = [];
    for (const path of CORPUS) {
      const one = { files: [basename(path)], directory: dirname(path) };
      const answer = asked(one);
      const ours = read(one);
      // Compose takes some files that it cannot print.
      if (answer.refused !== undefined && /error calling MarshalJSON/.test(answer.refused)) continue;
      if (answer.refused !== undefined) {
        if (ours?.findings.length === 0) defects.push(`${path}: taken here, and refused there: ${answer.refused}`);
        continue;
      }
      if (ours === undefined || ours.findings.length > 0) {
        count.refused += 1;
        // A file without services is none here.
        for (const { message, pointer } of ours?.findings ?? []) {
          const why = refusalOf(message);
          if (why === undefined) defects.push(`${path}: ${pointer}: ${message}`);
          else report.push(`${path}: refused: ${pointer}: ${why}`);
        }
        continue;
      }
      const compared = compare(ours, { model: answer.model, environment: variablesOf(one), directory: one.directory });
      for (const { service, field, expected, found } of compared.defects)
        defects.push(`${path}: ${service}: ${field}: ${JSON.stringify(expected)} there, ${JSON.stringify(found)} here`);
      for (const { service, field, why } of compared.explained) report.push(`${path}: ${service}: ${field}: ${why}`);
      if (compared.defects.length + compared.explained.length === 0) count.same += 1;
      else if (compared.defects.length === 0) count.explained += 1;
    }
    mkdirSync(dirname(REPORT), { recursive: true });
    writeFileSync(REPORT, [JSON.stringify(count), ...report, ""].join("\n"));
    expect(defects).toEqual([]);
    expect(count.refused / (count.same + count.explained + count.refused)).toBeLessThanOrEqual(0.05);
  }, 3_000_000);
});
