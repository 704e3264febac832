/** Manifests of pods mean what Kubernetes' documentation says of them: the project's own, and those of others where RUNT_CORPUS names clones. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { renderFinding } from "../../../src/engine/spec/index.ts";
import { parseFile } from "../../../src/pod/index.ts";
import { type Case, rawString, titleOf } from "../../corpus/case.ts";
import { FETCHED_PODS } from "../../corpus/fetched-pods.ts";
import { OWN_PODS } from "../../corpus/pods.ts";
import { CLONES, contentOf, isSaid } from "../../corpus/sources.ts";

const HOST = { name: "node-1", cpus: 4, memoryBytes: 2 ** 33, images: "oci:/srv/images" };

function textOf({ source, file, variables }: Case): string {
  if (source === undefined) return readFileSync(new URL(`../../corpus/pods/${file}`, import.meta.url), "utf8");
  const text = contentOf({ source, path: file }).toString();
  return variables === undefined ? text : variables.map((name) => rawString(text, name)).join("---");
}

function check(one: Case): void {
  const { tasks, findings } = parseFile(textOf(one), HOST);
  expect(findings.map((finding) => renderFinding(finding, "f").replace(/^f:(\d+:\d+): (\S+): .*$/s, "$1 $2"))).toEqual(one.refused ?? []);
  expect(tasks).toHaveLength(one.tasks?.length ?? 0);
  expect(tasks).toMatchObject(one.tasks ?? []);
}

test.each(OWN_PODS.map((one) => [titleOf(one), one] as const))("%s", (_, one) => check(one));

test("there are 30 manifests, half of them of others", () => {
  expect(OWN_PODS.length).toBeGreaterThanOrEqual(15);
  expect(FETCHED_PODS.length).toBeGreaterThanOrEqual(15);
});

describe.skipIf(CLONES === undefined)("with clones (RUNT_CORPUS)", () => {
  test.each(FETCHED_PODS.map((one) => [titleOf(one), one] as const))("%s", (_, one) => check(one));
  test("the document of interLink that is kept here is theirs", () => {
    const kept = readFileSync(new URL("../../fixtures/interlink/plugin-openapi.json", import.meta.url));
    expect(kept.equals(contentOf({ source: "interLink", path: "docs/openapi/plugin-openapi.json" }))).toBe(true);
  });
  test("each expectation quotes what the documentation says", () => {
    const quotes = [...OWN_PODS, ...FETCHED_PODS].flatMap(({ says }) => says);
    expect(quotes.filter((quote) => !isSaid(quote))).toEqual([]);
  });
});
