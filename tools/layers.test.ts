import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

const REPOSITORY = resolve(import.meta.dirname, "..");
let tree: string;

beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), "runt-layers-"));
  put("tsconfig.json", "{}");
  put("src/runtime/state/index.ts", 'export { one } from "./one.ts";\n');
  put("src/runtime/state/one.ts", "export const one = 1;\n");
});
afterEach(() => rmSync(tree, { recursive: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true });
  writeFileSync(join(tree, path), text);
}

/** What the layer check says of the tree; empty when it finds nothing. */
function violations(): string {
  const config = join(REPOSITORY, ".dependency-cruiser.cjs");
  try {
    execFileSync(join(REPOSITORY, "node_modules/.bin/depcruise"), ["--config", config, "src"], { cwd: tree, encoding: "utf8" });
    return "";
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

it("takes an import of an index", () => {
  put("src/runtime/verbs/two.ts", 'import { one } from "../state/index.ts";\nexport const two = one;\n');
  expect(violations()).toBe("");
});

it("refuses an import past an index, and a circle of types", () => {
  put("src/runtime/verbs/two.ts", 'import { one } from "../state/one.ts";\nexport const two = one;\n');
  put("src/runtime/plan/a.ts", 'import type { B } from "./b.ts";\nexport type A = B | 1;\n');
  put("src/runtime/plan/b.ts", 'import type { A } from "./a.ts";\nexport interface B { readonly a: A }\n');
  const found = violations();
  expect(found).toContain("no-import-past-an-index: src/runtime/verbs/two.ts");
  expect(found).toContain("no-circular: src/runtime/plan/");
});

it("keeps Node out of the client, and the system behind its platform", () => {
  put("src/runtctl/platform/index.ts", 'export { ask } from "./ask.ts";\n');
  put("src/runtctl/platform/ask.ts", 'import { connect } from "runt:client";\nexport const ask = connect;\n');
  put("src/runtctl/verbs/top.ts", 'export { ask } from "../platform/index.ts";\n');
  expect(violations()).toBe("");
  put("src/runtctl/verbs/a.ts", 'import "node:fs";\nimport "runt:client";\nimport "../platform/ask.ts";\n');
  const found = violations();
  expect(found).toContain("client-without-node: src/runtctl/verbs/a.ts");
  expect(found).toContain("client-asks-the-system-by-its-platform: src/runtctl/verbs/a.ts");
  expect(found).toContain("client-platform-through-its-index: src/runtctl/verbs/a.ts");
});
