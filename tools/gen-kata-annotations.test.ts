import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FILE, page } from "./gen-kata-annotations.ts";

test("docs/kata-annotations.md has the tables of the source", () => {
  const text = readFileSync(FILE, "utf8");
  expect(text).toBe(page(text));
});
