import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FILE, findingsDocument, wholeDocument } from "./gen-findings.ts";

test("docs/findings.md is what tools/gen-findings.ts writes", () => {
  const current = existsSync(FILE) ? readFileSync(FILE, "utf8") : "";
  expect(wholeDocument(current) === current, "run: npx tsx tools/gen-findings.ts").toBe(true);
});

test("what stands below the marker is kept", () => {
  const document = `${findingsDocument()}## Measured\n`;
  expect(wholeDocument(document)).toBe(document);
  expect(wholeDocument(`old text\n${document.slice(document.indexOf("<!--"))}`)).toBe(document);
});
