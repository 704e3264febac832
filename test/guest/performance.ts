/** The section of docs/performance.md with the system calls that the guest has counted. */
import { readFileSync, writeFileSync } from "node:fs";

const HEADING = "## System calls on cgroup v2";

/** Report of test/guest/system-calls.ts. */
interface Report {
  readonly runt: Readonly<Record<string, { readonly runt: number; readonly crun: number }>>;
}

/** The page with this section instead of its old one, or with it at the end. `machine` names kernel and peer. */
export function withSystemCalls(page: string, report: string, machine: string): string {
  const verbs = Object.entries((JSON.parse(report) as Report).runt);
  const section = [
    HEADING,
    "",
    "strace counted the system calls in the guest (`make test-guest GUEST=--write`;",
    `${machine}). The counts include the helper, and the process of the container until it`,
    "executes its program. They do not include calls of the container after the end of the verb.",
    "",
    "| verb | runt | crun | ratio |",
    "| --- | --- | --- | --- |",
    ...verbs.map(([verb, { runt, crun }]) => `| ${verb} | ${runt} | ${crun} | ${(runt / crun).toFixed(2)} |`),
    "",
  ].join("\n");
  const begin = page.indexOf(HEADING);
  if (begin < 0) return `${page.trimEnd()}\n\n${section}`;
  const next = page.indexOf("\n## ", begin);
  return page.slice(0, begin) + section + (next < 0 ? "" : page.slice(next));
}

export function writeSystemCalls(file: string, report: string, machine: string): void {
  writeFileSync(file, withSystemCalls(readFileSync(file, "utf8"), report, machine));
}
