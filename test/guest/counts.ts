/** Passed, failed and skipped tests of one lane, from the report that it left. */

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** vitest's JSON reporter. */
interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}

/** test/conformance --json and test/guest/system-calls.ts: by runtime, by item. */
type ItemsReport = Readonly<Record<string, Readonly<Record<string, { readonly result: string }>>>>;

/** A lane without a readable report, without a test in it, or that failed without naming a test, is one failure. */
export function countLane(report: string | undefined, status: number | undefined): Counts {
  const counts = report === undefined ? undefined : countReport(report);
  if (counts === undefined || counts.passed + counts.failed + counts.skipped === 0) return { passed: 0, failed: 1, skipped: 0 };
  return status === 0 || counts.failed > 0 ? counts : { ...counts, failed: 1 };
}

export function add(one: Counts, other: Counts): Counts {
  return { passed: one.passed + other.passed, failed: one.failed + other.failed, skipped: one.skipped + other.skipped };
}

function countReport(text: string): Counts | undefined {
  let report: unknown;
  try {
    report = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof report !== "object" || report === null) return undefined;
  return "numPassedTests" in report ? countVitest(report as VitestReport) : countItems(report as ItemsReport);
}

function countVitest(report: VitestReport): Counts {
  // A file that does not load has no test to fail.
  const broken = report.testResults.filter(({ status, assertionResults }) => status === "failed" && assertionResults.length === 0).length;
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** Peers are there to compare with. */
function countItems({ runt = {} }: ItemsReport): Counts {
  const results = Object.values(runt).map(({ result }) => result);
  const passed = results.filter((result) => result === "passed").length;
  const failed = results.filter((result) => result === "failed").length;
  return { passed, failed, skipped: results.length - passed - failed };
}
