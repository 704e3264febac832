/** What a validation program printed, judged. */

export interface Verdict {
  readonly clean: boolean;
  /** Checks that passed. */
  readonly passed: number;
  /** What is wrong: failed checks with what is told of each, or why the program did not get to any. */
  readonly failures: readonly string[];
}

export interface Output {
  /** undefined: the time was up. */
  readonly status: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

const NOT_OK = /^not ok\b/;
const OK = /^ok\b/;

/**
 * Lines "ok" and "not ok", as in the Test Anything Protocol. Programs about hooks make none and announce "1..0": theirs is what they
 * print as "error" then, and nothing if all is well. A few of those that expect a failure print nothing at all when it comes.
 */
export function judge({ status, stdout, stderr }: Output): Verdict {
  const lines = stdout.split("\n");
  const passed = lines.filter((line) => OK.test(line)).length;
  const failures = lines.flatMap((line, index) => (NOT_OK.test(line) ? [[line, ...detailsAfter(lines, index)].join("\n")] : []));
  if (passed + failures.length === 0) failures.push(...errorsOf(stdout));
  if (status === undefined) failures.push("the time was up");
  else if (status !== 0) failures.push(`exit status ${status}: ${stderr.trim()}`);
  else if (stdout !== "" && !/^1\.\.\d+/m.test(stdout)) failures.push("it ended before its plan");
  return { clean: failures.length === 0, passed, failures };
}

/** Comments and the YAML block that follow a line. */
function detailsAfter(lines: readonly string[], index: number): string[] {
  const rest = lines.slice(index + 1);
  const end = rest.findIndex((line) => !/^(#|\s)/.test(line));
  return rest.slice(0, end === -1 ? undefined : end).filter((line) => !/^\s*([{}]|---|\.\.\.)?\s*$/.test(line));
}

/** Non-empty values of "error" in the YAML blocks, which are JSON. */
function errorsOf(stdout: string): string[] {
  return [...stdout.matchAll(/^ {2}---\n([\s\S]*?)\n {2}\.\.\.$/gm)]
    .map(([, block = "{}"]) => (JSON.parse(block) as { readonly error?: string }).error ?? "")
    .filter((error) => error !== "");
}
