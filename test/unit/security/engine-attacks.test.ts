import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ENGINE_ATTACKS, engineTable, resultsIn } from "../../security/engine.ts";
import { PEER_ATTACKS } from "../../security/peers/attacks.ts";
import { cellOf, merged, type PeerRecord, recorded } from "../../security/peers/record.ts";
import { REPOSITORY } from "../../support/programs.ts";

const [first, second] = ENGINE_ATTACKS;

test.each(ENGINE_ATTACKS)("$id is a test of $file", ({ file, test: title }) => {
  expect(readFileSync(join(REPOSITORY, "test/engine", file), "utf8")).toContain(`"${title}`);
});

test("only a test that has passed says that an attack was held", () => {
  const of = (status: string) => [
    { name: `/x/test/engine/${first!.file}`, assertionResults: [{ title: `${first!.test} and more`, status }] },
  ];
  const word = (status: string) => resultsIn({ testResults: of(status) }, [first!]).get(first!.id);
  expect([word("passed"), word("failed"), word("skipped")]).toEqual(["held", "**succeeds**", "—"]);
  expect(resultsIn({ testResults: of("passed") }, [second!]).get(second!.id)).toBe("**succeeds**");
});

test("each attack is tried with Podman and Docker, too", () => {
  expect(Object.keys(PEER_ATTACKS)).toEqual(ENGINE_ATTACKS.map(({ id }) => id));
});

test("what is known of a peer stays where it is not installed; another version begins anew", () => {
  const record = (version: string, ...ids: string[]): PeerRecord => ({
    version,
    findings: Object.fromEntries(ids.map((id) => [id, { word: "held", detail: `with ${version}` }])),
  });
  const known = { Podman: record("1", "a", "b") };
  expect(merged(known, {})).toEqual(known);
  expect(merged(known, { Podman: record("1", "b", "c"), Docker: record("9", "a") })).toEqual({
    Podman: record("1", "a", "b", "c"),
    Docker: record("9", "a"),
  });
  expect(merged(known, { Podman: record("2", "b") })).toEqual({ Podman: record("2", "b") });
  const cells = [undefined, known.Podman].map((one) => [cellOf(one, "a"), cellOf(one, "z")]);
  expect(cells).toEqual([
    ["was not here", "was not here"],
    ["held: with 1", "not tried"],
  ]);
});

test("docs/security.md has each row", () => {
  const page = readFileSync(join(REPOSITORY, "docs/security.md"), "utf8");
  expect(page).toContain(engineTable(new Map(ENGINE_ATTACKS.map(({ id }) => [id, "held"])), recorded()));
});
