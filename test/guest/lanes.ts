/** What runs in the guest: shell commands, one after the other, in the repository's directory. */

export const MODES = ["v2", "v1"] as const;
export type Mode = (typeof MODES)[number];

export interface Lane {
  readonly name: string;
  readonly modes: readonly Mode[];
  /** Seconds without a line of output after which it counts as hanging. */
  readonly silence: number;
  /** Its report (counts.ts) goes to $REPORT. */
  readonly command: string;
}

/** More than one test may take, stretched as its time is in the guest. */
const TEST_SILENCE = 600;

// One worker for all files: each costs six seconds to start.
const vitest = (project: string, ...files: readonly string[]) =>
  `node node_modules/vitest/vitest.mjs run --project ${project} ${files.join(" ")} --no-isolate --reporter=verbose --reporter=json --outputFile.json=$REPORT`;
const CGROUP_FILES = ["events", "exec.test", "lifecycle", "limits", "pause", "run.test", "update"];
/** Groups of test/conformance that depend on the hierarchies; docs/conformance.md has their outcome beside that of a v1 host. */
const CGROUP_GROUPS = "CGP,RES,MEM,CPU,BLK,OTH";
const tsx = (script: string) => `node node_modules/tsx/dist/cli.mjs ${script} --json $REPORT`;

export const SYSTEM_CALLS = "system-calls";

export const LANES: readonly Lane[] = [
  { name: "guest", modes: ["v2", "v1"], silence: TEST_SILENCE, command: vitest("guest") },
  { name: SYSTEM_CALLS, modes: ["v2"], silence: TEST_SILENCE, command: tsx("test/guest/system-calls.ts") },
  { name: "conformance", modes: ["v2"], silence: TEST_SILENCE, command: tsx(`test/conformance/main.ts --verbose --only ${CGROUP_GROUPS}`) },
  { name: "e2e", modes: ["v2"], silence: TEST_SILENCE, command: vitest("e2e") },
  // All of it runs on v1 wherever the host is one: here what depends on the hierarchies, which systemd and not the host has laid out.
  { name: "e2e-cgroups", modes: ["v1"], silence: TEST_SILENCE, command: vitest("e2e", ...CGROUP_FILES) },
];

/** Those named in a list with commas, in their own order; all when there is no list. */
export function chosen<T>(all: readonly T[], list: string | undefined, nameOf: (one: T) => string): readonly T[] {
  if (list === undefined) return all;
  const names = list.split(",");
  const unknown = names.filter((name) => !all.some((one) => nameOf(one) === name));
  if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(", ")}; known: ${all.map(nameOf).join(", ")}`);
  return all.filter((one) => names.includes(nameOf(one)));
}
