/**
 * Pages that a target of make writes from what it has measured: whether they still fit the sources, as far as the sources alone can tell.
 * docs/findings.md, docs/engine/behaviour.md and the pages below it are compared beside their generators, man/ by `make lint`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { declaredSystemCalls } from "../../src/runtime/plan/index.ts";
import { OPS, type OpName } from "../../src/shared/protocol/index.ts";
import { GROUPS } from "../conformance/groups.ts";
import { REPOSITORY } from "../support/programs.ts";

const read = (path: string) => readFileSync(join(REPOSITORY, path), "utf8");
const sorted = (names: Iterable<string>) => [...new Set(names)].sort();

describe("generated pages", () => {
  test.each([
    ["docs/conformance.md", "make conformance"],
    ["docs/engine/compose-fields.md", "tools/gen-fields.ts"],
    ["docs/engine/pod-fields.md", "tools/gen-fields.ts"],
    ["docs/executor-behaviour.md", "make executor-behaviour"],
    ["docs/engine/behaviour.md", "make engine-behaviour"],
    ["docs/engines/results.md", "make test-engines"],
    ["docs/findings.md", "tools/gen-findings.ts"],
    ["docs/plan-branches.md", "make plan-branches"],
  ])("%s says at its head that %s writes it", (page, writer) => {
    expect(read(page).slice(0, 600)).toMatch(new RegExp(`Written by\\s+\`${writer}`));
  });

  test("docs/conformance.md has every requirement (make conformance)", () => {
    const rows = [...read("docs/conformance.md").matchAll(/^\| ([A-Z][A-Z\d]*-\d+\w?) \|/gm)].map(([, id = ""]) => id);
    expect(sorted(rows)).toEqual(sorted(GROUPS.flatMap(({ items }) => items.map(({ id }) => id))));
  });

  test("docs/executor-behaviour.md has the titles of the tests (make executor-behaviour)", () => {
    const page = read("docs/executor-behaviour.md");
    const rows = [...page.matchAll(/^\| X\d+ \| (.*) \| [\w-]+\.test\.ts \| \w+ \|$/gm)].map(([, title = ""]) =>
      title.replaceAll("\\|", "|"),
    );
    const files = readdirSync(join(REPOSITORY, "test/library")).filter((name) => name.endsWith(".test.ts"));
    const texts = files.map((name) => read(`test/library/${name}`)).join("\n");
    expect(sorted(rows).filter((title) => !texts.includes(title))).toEqual([]);
    const titles = [...texts.matchAll(/^\s*row\(\s*"X[^"]*",\s*"([^"]*)"/gm)].map(([, title = ""]) => title);
    expect(sorted(titles).filter((title) => !rows.includes(title))).toEqual([]);
  });

  test("docs/plan-branches.md has calls that operations declare (make plan-branches)", () => {
    const rows = [...read("docs/plan-branches.md").matchAll(/^\| ([\w.]+) \| `(.*)` \| \d+ \| \d+ \|$/gm)];
    expect(rows.length).toBeGreaterThan(0);
    const gone = rows.filter(([, op = "", call = ""]) => !(op in OPS) || !calls(op as OpName).includes(call.replaceAll("\\|", "|")));
    expect(gone.map(([row]) => row)).toEqual([]);
  });
});

const calls = (op: OpName) => declaredSystemCalls(op).map((call) => call.replace(/^[<>?+]+/, ""));
