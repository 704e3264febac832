import { expect, it } from "vitest";
import { entryOf, sectionText } from "../check/catalogue/index.ts";
import type { LocatedFinding } from "../check/index.ts";
import { findingsSarif } from "./findings-sarif.ts";
import { findingsDocument, findingsText, summaryText } from "./findings-text.ts";

const HEADER = { file: "web/config.json", host: "live host, cgroup v2" };
const TEXTS = { entryOf, sectionText };
const COUNTS = { error: 1, warning: 0, advice: 0 };
const FINDING: LocatedFinding = {
  code: "mount-source-missing",
  severity: "error",
  pointer: "/mounts/7/source",
  message: '"/srv/dta" does not exist; nearest: /srv/data',
  line: 41,
  column: 17,
  value: '"/srv/dta"',
};

const shown = (...findings: readonly LocatedFinding[]) => ({ findings, others: [] });

it("has the form of the manual", () => {
  expect(findingsText(shown(FINDING), HEADER, TEXTS) + summaryText(COUNTS, HEADER)).toBe(`\
error[mount-source-missing] web/config.json:41:17  /mounts/7/source
  "/srv/dta" does not exist; nearest: /srv/data
  fix: correct the path                                            OCI 1.3 config.md#mounts
1 error, 0 warnings (live host, cgroup v2)
`);
});

it("is no wider than 100 columns, and prints no control characters", () => {
  const long = { ...FINDING, message: `"\u001b[31m" ${"and so on ".repeat(30)}`, remedy: "do one thing or the other ".repeat(10).trim() };
  const text = findingsText(shown(long), HEADER, TEXTS);
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
  expect(text).not.toContain("\u001b");
  expect(text).toContain("\\u001b[31m");
});

it("shows the value where the reason does not", () => {
  const text = findingsText(shown({ ...FINDING, message: "it is too long", value: '"abc"' }), HEADER, TEXTS);
  expect(text.split("\n")[1]).toBe('  it is too long (found "abc")');
});

it("tells three of many alike whole, and where the others are", () => {
  const alike = Array.from({ length: 12 }, (_, index) => ({ ...FINDING, pointer: `/mounts/${index}/source` }));
  const text = findingsText(shown(...alike), HEADER, TEXTS);
  expect(text.match(/^error\[/gm)).toHaveLength(3);
  expect(text).toContain("and 9 more of mount-source-missing: /mounts/3/source");
  expect(findingsText(shown(...alike.slice(0, 4)), HEADER, TEXTS).match(/^error\[/gm)).toHaveLength(4);
});

it("counts those without a place, too", () => {
  const findings = Array.from({ length: 9 }, (_, index) => ({ ...FINDING, pointer: `/mounts/${index}/source` }));
  const others = [FINDING, FINDING, { ...FINDING, code: "mount-kind" }];
  expect(findingsText({ findings, others }, HEADER, TEXTS)).toContain("and 8 more of mount-source-missing: /mounts/3/source");
});

it("has colours where they are asked for", () => {
  const mark = (text: string) => `<${text}>`;
  const text = findingsText(shown(FINDING), HEADER, TEXTS, { error: mark, warning: mark, advice: mark });
  expect(text).toMatch(/^<error\[mount-source-missing\]> web/);
});

it("counts in plain words", () => {
  expect(summaryText({ error: 0, warning: 1, advice: 2 }, HEADER)).toBe("0 errors, 1 warning, 2 advice (live host, cgroup v2)\n");
});

it("is JSON with remedy, section and title from the catalogue", () => {
  expect(findingsDocument([FINDING], HEADER, COUNTS, TEXTS)).toEqual({
    ...HEADER,
    counts: COUNTS,
    findings: [
      { ...FINDING, remedy: "correct the path", section: "OCI 1.3 config.md#mounts", title: "The source of a bind mount is missing" },
    ],
  });
});

it("is SARIF: every result has its rule, its place and its level", () => {
  const other: LocatedFinding = { ...FINDING, code: "annotation-name", severity: "advice", pointer: "", value: "1" };
  const { version, runs } = JSON.parse(findingsSarif([{ file: "a b/config.json", findings: [FINDING, other, FINDING] }], "0.1.0", TEXTS));
  expect(version).toBe("2.1.0");
  const [{ tool, results }] = runs;
  const ids = tool.driver.rules.map(({ id }: { id: string }) => id);
  expect(ids).toEqual(["annotation-name", "mount-source-missing"]);
  for (const { ruleId, ruleIndex } of results) expect(ids[ruleIndex]).toBe(ruleId);
  expect(results[0]).toMatchObject({
    level: "error",
    message: { text: FINDING.message },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: "a%20b/config.json" }, region: { startLine: 41, startColumn: 17 } },
        logicalLocations: [{ fullyQualifiedName: "/mounts/7/source" }],
      },
    ],
  });
  expect(results[1].level).toBe("note");
  expect(results[1].locations[0].logicalLocations).toBeUndefined();
});
