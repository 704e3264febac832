import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { QUADLET_PAGE, quadletPage } from "./gen-quadlet.ts";

test("docs/engine/quadlet.md has the keys of the schema (npx tsx tools/gen-quadlet.ts)", () => {
  const page = readFileSync(QUADLET_PAGE, "utf8");
  expect(page).toBe(quadletPage(page));
});
