/**
 * What one lane's report says: `node tools/test-report.mjs LANE REPORT FAILURES` prints "PASSED FAILED SKIPPED" of vitest's JSON report and
 * appends to FAILURES a line for each test that failed.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";

/** How much of an error text is repeated, without colours and stack. It may be all that is known of a run on another machine. */
const EXCERPT = 2000;

const [lane, path, failures] = process.argv.slice(2);
const report = JSON.parse(readFileSync(path, "utf8"));
const excerpt = (text = "") =>
  stripVTControlCharacters(text)
    .split(/\n\s+at /, 1)[0]
    .replace(/\s*\n\s*/g, " | ")
    .slice(0, EXCERPT);
/** Each expectation that did not hold has a text of its own. */
const errors = (messages) => messages.map(excerpt).join(" || ");
const lines = [];
let broken = 0;
for (const { name, status, message, assertionResults } of report.testResults) {
  const file = relative(process.cwd(), name);
  // A file fails without a test that does: it cannot be loaded, or a hook throws.
  if (status === "failed" && !assertionResults.some((test) => test.status === "failed")) {
    broken++;
    lines.push(`failed: ${lane}: ${file}: ${excerpt(message)}`);
  }
  for (const { fullName, status: result, failureMessages } of assertionResults) {
    if (result === "failed") lines.push(`failed: ${lane}: ${file}: ${fullName}: ${errors(failureMessages)}`);
  }
}
let failed = report.numFailedTests + broken;
if (failed === 0 && !report.success) {
  failed = 1;
  lines.push(`failed: ${lane}: an error that no test waited for`);
}
if (lines.length > 0) appendFileSync(failures, `${lines.join("\n")}\n`);
console.log(report.numPassedTests, failed, report.numPendingTests + report.numTodoTests);
