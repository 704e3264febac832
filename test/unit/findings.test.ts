/** Every finding of the catalogue: its example has it and nothing else, and what fixes the example leaves nothing. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CHAPTERS, type Entry } from "../../src/runtime/check/catalogue/index.ts";
import { validate } from "../../src/runtime/diagnostics/validate/index.ts";
import { CLEAN, exampleConfig, exampleView } from "../support/example-host.ts";
import { REPOSITORY } from "../support/programs.ts";

/** Of the bytes, not of the text: an e2e test has them. */
const OF_BYTES = ["config-encoding"];

const entries: readonly (readonly [string, Entry])[] = CHAPTERS.flatMap(([, chapter]) => Object.entries(chapter));

function findingsOf({ example }: Entry, text: string) {
  const { rootless = false, systemd = false } = example;
  return validate(text, { view: exampleView(example), rootless, systemd }).findings.map(({ code, severity, pointer }) => ({
    code,
    severity,
    pointer,
  }));
}

function brokenText({ example }: Entry): string {
  const text = `${JSON.stringify(exampleConfig(example, example.broken), null, 2).replace(/": \[\s*"sh"\s*\]/, '": ["sh"]')}\n`;
  return example.text === undefined ? text : text.replace(example.text[0], example.text[1]);
}

describe.each(entries.filter(([code]) => !OF_BYTES.includes(code)))("%s", (code, entry) => {
  test("is found in its example, alone", () => {
    const pointer = entry.example.at ?? Object.keys(entry.example.broken)[0];
    expect(findingsOf(entry, brokenText(entry))).toEqual([{ code, severity: entry.level, pointer }]);
  });

  test("is gone when the example is fixed", () => {
    expect(findingsOf(entry, JSON.stringify(exampleConfig(entry.example, entry.example.fixed ?? {})))).toEqual([]);
  });
});

describe("the catalogue", () => {
  /** Codes as they stand in the sources: report.error("code", warn("code", finding: "code", code: "code". */
  const CODE =
    /(?:report(?:\[level\]|\.(?:error|warning|advice))|\bwarn|\brefuse|\battempt)\(\s*"([a-z]+(?:-[a-z]+)+)"|(?:finding|\bcode): "([a-z]+(?:-[a-z]+)+)"/g;

  function sources(directory: string): readonly string[] {
    return readdirSync(directory, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !name.includes("catalogue"))
      .map((name) => readFileSync(`${directory}/${name}`, "utf8"));
  }

  test("has every code that a check or the derivation uses", () => {
    const texts = ["src/runtime/check", "src/runtime/config", "src/runtime/diagnostics/validate"].flatMap((directory) =>
      sources(`${REPOSITORY}/${directory}`),
    );
    const used = texts.flatMap((text) => [...text.matchAll(CODE)].map(([, one, other]) => one ?? other ?? ""));
    expect(used.length).toBeGreaterThan(150);
    const known = new Set(entries.map(([code]) => code));
    expect([...new Set(used)].filter((code) => !known.has(code) && code !== "config-invalid")).toEqual([]);
  });

  test("has no code twice, and texts for each", () => {
    expect(new Set(entries.map(([code]) => code)).size).toBe(entries.length);
    for (const [code, { title, why, fix, section }] of entries)
      for (const text of [title, why, fix, section]) expect(text.length, code).toBeGreaterThan(3);
  });
});

test("the clean configuration is clean, on the example's host and on none", () => {
  const text = JSON.stringify(CLEAN);
  expect(validate(text, { view: exampleView({}), rootless: false, systemd: false }).findings).toEqual([]);
  expect(validate(text, { view: undefined, rootless: false, systemd: false }).findings).toEqual([]);
});
