/** Compose files mean what the Compose specification says of them: the project's own, and those of others where RUNT_CORPUS names clones. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { renderFinding } from "../../../src/engine/spec/index.ts";
import { parseCompose } from "../../../src/pod/index.ts";
import { type Case, titleOf } from "../../corpus/case.ts";
import { FETCHED_COMPOSE, OWN_COMPOSE } from "../../corpus/compose.ts";
import { CLONES, contentOf, isSaid } from "../../corpus/sources.ts";

const OWN = fileURLToPath(new URL("../../corpus/compose", import.meta.url));
/** Where files of others seem to be. */
const DIRECTORY = "/srv/app";

function read({ source, file, environment = {}, profiles = [] }: Case) {
  const directory = source === undefined ? OWN : DIRECTORY;
  const readFile = (path: string) =>
    source === undefined ? readFileSync(path) : contentOf({ source, path: join(dirname(file), path.slice(directory.length)) });
  const text = source === undefined ? readFileSync(join(OWN, file)) : contentOf({ source, path: file });
  return parseCompose(text.toString(), { environment, profiles: [...profiles], directory, readFile, images: "oci:/srv/images" })!;
}

function check(one: Case): void {
  const { tasks, findings } = read(one);
  expect(findings.map((finding) => renderFinding(finding, "f").replace(/^f:(\d+:\d+): (\S+): .*$/s, "$1 $2"))).toEqual(one.refused ?? []);
  expect(tasks).toHaveLength(one.tasks?.length ?? 0);
  expect(tasks).toMatchObject(one.tasks ?? []);
}

test.each(OWN_COMPOSE.map((one) => [titleOf(one), one] as const))("%s", (_, one) => check(one));

test("there are 20 Compose files, half of them of others", () => {
  expect(OWN_COMPOSE.length).toBeGreaterThanOrEqual(10);
  expect(FETCHED_COMPOSE.length).toBeGreaterThanOrEqual(10);
});

describe.skipIf(CLONES === undefined)("with clones (RUNT_CORPUS)", () => {
  test.each(FETCHED_COMPOSE.map((one) => [titleOf(one), one] as const))("%s", (_, one) => check(one));
  test("each expectation quotes what the specification says", () => {
    const quotes = [...OWN_COMPOSE, ...FETCHED_COMPOSE].flatMap(({ says }) => says);
    expect(quotes.filter((quote) => !isSaid(quote))).toEqual([]);
  });
});
