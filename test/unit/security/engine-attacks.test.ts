import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ENGINE_ATTACKS, engineTable, resultsIn } from "../../security/engine.ts";
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

test("docs/security.md has each row", () => {
  const page = readFileSync(join(REPOSITORY, "docs/security.md"), "utf8");
  expect(page).toContain(engineTable(new Map(ENGINE_ATTACKS.map(({ id }) => [id, "held"]))));
});
