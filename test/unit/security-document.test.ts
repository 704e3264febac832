/** docs/security.md names files and tests: they are there. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const REPOSITORY = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(REPOSITORY, path), "utf8");

test("every file in the table of mechanisms", () => {
  const table = read("docs/security.md").split("## Mechanisms")[1]!.split("\n## ")[0]!;
  const rows = [...table.matchAll(/^\| \*\*.*$/gm)].map(([row]) => row.slice(2, -2).split(" | "));
  expect(rows.length).toBeGreaterThan(10);
  const missing = rows.flatMap(([title, where, tests]) => {
    const names = (cell: string | undefined, base: string) =>
      [...(cell ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => (name!.includes("/") ? name! : join(base, name!)));
    const files = [...names(where, "native-bindings/init"), ...names(tests, "test/native")];
    return files.length > 1 ? files.filter((file) => !existsSync(join(REPOSITORY, file))) : [`${title}: no file or no test`];
  });
  expect(missing).toEqual([]);
});

test("every path in the table of identities", () => {
  const section = read("docs/identity.md");
  const paths = [...section.matchAll(/`((?:src|test)\/[^`,{]+)`/g)].map(([, path]) => path!);
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !existsSync(join(REPOSITORY, path)))).toEqual([]);
});

test.each(["SECURITY.md", "docs/security.md", "docs/identity.md", "docs/decisions/0028-hardening.md"])("every link of %s", (document) => {
  const links = [...read(document).matchAll(/\]\(([^)#:]+)\)/g)].map(([, target]) => join(dirname(document), target!));
  expect(links.filter((target) => !existsSync(join(REPOSITORY, target)))).toEqual([]);
});
