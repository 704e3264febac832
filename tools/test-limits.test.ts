/**
 * No test has a limit of its own that is shorter than that of its lane: on a busy machine everything takes many times as long, and the limit of the
 * lane (vitest.config.ts) is for what hangs. What is to be fast is measured in the test, by what it does rather than by a clock.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";

/** That of the lanes. */
const LANE_MS = 180_000;
/** Most files have none, and need not be parsed. */
const MAY_HAVE_ONE = /\d,?\s*\)|\btimeout:/;
const CALLED = /^(?:test|it|describe|beforeAll|afterAll|beforeEach|afterEach)\b/;

/** Lines of a test file with such a limit: the last argument of a test or hook, or `timeout` among its options. */
function shortLimits(name: string, text: string): string[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const look = (node: ts.Node | undefined): void => {
    if (node && ts.isNumericLiteral(node) && Number(node.text.replaceAll("_", "")) < LANE_MS)
      found.push(`${name}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && CALLED.test(node.expression.getText(file))) {
      if (node.arguments.some((argument) => ts.isArrowFunction(argument) || ts.isFunctionExpression(argument))) look(node.arguments.at(-1));
      for (const options of node.arguments.filter(ts.isObjectLiteralExpression))
        for (const option of options.properties)
          if (ts.isPropertyAssignment(option) && option.name.getText(file) === "timeout") look(option.initializer);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

test.each([
  ["test('a', () => {}, 60_000);", 1],
  ["test.each([1])('a', () => {}, 60_000);", 1],
  ["describe('a', { timeout: 5000 }, () => {});", 1],
  ["describe.skipIf(x)('a', () => { beforeAll(() => {}, 10_000); });", 1],
  ["test('a', { timeout: 3_600_000 }, () => {});", 0],
  ["test('a', () => { run({ timeout: 10 }); }, LONGEST_MS);", 0],
])("finds the limits of %j", (text, count) => {
  expect(shortLimits("x.test.ts", text)).toHaveLength(count);
});

test("no test has a limit shorter than that of its lane", () => {
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.test.ts"], { encoding: "utf8" });
  const files = list.split("\0").filter((name) => name !== "" && existsSync(name));
  expect(files.length).toBeGreaterThan(100);
  const texts = files.map((name) => [name, readFileSync(name, "utf8")] as const).filter(([, text]) => MAY_HAVE_ONE.test(text));
  expect(texts.flatMap(([name, text]) => shortLimits(name, text))).toEqual([]);
});
