/** What runs in the guest: shell commands, one after the other, in the repository's directory. */

export const MODES = ["v2", "v1"] as const;
export type Mode = (typeof MODES)[number];

export interface Lane {
  readonly name: string;
  readonly modes: readonly Mode[];
  /** Only with --long, or by its name. */
  readonly long?: boolean;
  /** The Debian packages, and newer ones (test/guest/packages.ts). */
  readonly needsPackages?: boolean;
  /** Seconds without a line of output after which it counts as hanging. */
  readonly silence: number;
  /** How many times the power of its machine is cut (power/cut.ts), $RUNT_TEST_CUTS there. It has a machine of its own. */
  readonly cuts?: { readonly short: number; readonly long: number };
  /** Its report (counts.ts) goes to $REPORT. */
  readonly command: string;
}

/** More than one test may take, stretched as its time is in the guest. */
const TEST_SILENCE = 600;

/** Churn of systemd's units is slow there: the short run has fewer. */
const MANY_CONTAINERS = 200;

// One worker for all files, and one run for all projects: starting vitest takes half a minute there.
const vitest = (projects: readonly string[], ...more: readonly string[]) =>
  `node node_modules/vitest/vitest.mjs run ${projects.map((project) => `--project ${project}`).join(" ")} ${more.join(" ")} --no-isolate --reporter=verbose --reporter=json --outputFile.json=$REPORT`;
/** Of test/e2e what depends on the hierarchies, which in the guest systemd and not the host has laid out. */
const CGROUP_FILES = ["events", "exec.test", "lifecycle", "limits", "pause", "run.test", "update"].map((name) => `test/e2e/${name}`);
/** Groups of test/conformance that depend on the hierarchies; docs/conformance.md has their outcome beside that of a v1 host. */
const CGROUP_GROUPS = "CGP,RES,MEM,CPU,BLK,OTH";
const tsx = (script: string) => `node node_modules/tsx/dist/cli.mjs ${script} --json $REPORT`;

export const SYSTEM_CALLS = "system-calls";
export const SYSTEMD_CALLS = "systemd-calls";

export const LANES: readonly Lane[] = [
  {
    name: "guest",
    modes: MODES,
    silence: TEST_SILENCE,
    command: vitest(
      ["guest", "e2e"],
      "test/guest/cases",
      ...CGROUP_FILES,
      "--exclude '**/checkpoint*.test.ts'",
      "--exclude '**/hostile.test.ts'",
      "--exclude '**/engine-*.test.ts'",
    ),
  },
  // runtd as systemd's service, from the Debian packages.
  { name: "engine", modes: ["v2"], needsPackages: true, silence: TEST_SILENCE, command: vitest(["guest"], "test/guest/cases/engine-") },
  // Its machine loses its power while it works: after each boot everything is as it was told.
  {
    name: "power",
    modes: ["v2"],
    long: true,
    cuts: { short: 2, long: 20 },
    silence: TEST_SILENCE,
    command: tsx("test/guest/power/main.ts"),
  },
  { name: "conformance", modes: ["v2"], silence: TEST_SILENCE, command: tsx(`test/conformance/main.ts --verbose --only ${CGROUP_GROUPS}`) },
  { name: SYSTEM_CALLS, modes: ["v2"], long: true, silence: TEST_SILENCE, command: tsx("test/guest/system-calls.ts") },
  { name: SYSTEMD_CALLS, modes: ["v2"], long: true, silence: TEST_SILENCE, command: tsx("test/guest/systemd-calls.ts") },
  // The rest of e2e depends on the kernel at most, and runs wherever `make test` does.
  { name: "e2e", modes: ["v2"], long: true, silence: TEST_SILENCE, command: vitest(["e2e"]) },
  // Executors on cgroup v2, beside systemd. There is no npm.
  { name: "library", modes: ["v2"], long: true, silence: TEST_SILENCE, command: vitest(["library"], "--exclude '**/package.test.ts'") },
  // Of criu, two minutes: hosts whose kernel it knows run the e2e tests of it too.
  { name: "checkpoint", modes: MODES, long: true, silence: TEST_SILENCE, command: vitest(["guest"], "test/guest/cases/checkpoint") },
  // The whole machine watches while verbs, others and their processes do what they like: half an hour.
  {
    name: "hostile",
    modes: MODES,
    long: true,
    silence: 2 * TEST_SILENCE,
    command: vitest(["walk", "guest"], "test/walk/hostile.test.ts", "test/guest/cases/hostile"),
  },
  {
    name: "churn",
    modes: MODES,
    long: true,
    silence: 2 * TEST_SILENCE,
    command: `RUNT_TEST_CONTAINERS=${MANY_CONTAINERS} ${vitest(["guest"], "systemd.test", "-t workers")}`,
  },
];

/** Those named in a list with commas, in their own order; all when there is no list. */
export function chosen<T>(all: readonly T[], list: string | undefined, nameOf: (one: T) => string): readonly T[] {
  if (list === undefined) return all;
  const names = list.split(",");
  const unknown = names.filter((name) => !all.some((one) => nameOf(one) === name));
  if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(", ")}; known: ${all.map(nameOf).join(", ")}`);
  return all.filter((one) => names.includes(nameOf(one)));
}

/** The lanes of one boot, or of one boot after the other. */
export interface Machine {
  /** Also of its list of lanes and its directory. */
  readonly name: string;
  readonly mode: Mode;
  readonly lanes: readonly Lane[];
  /** How many times its power is cut; 0: it ends in order. */
  readonly cuts: number;
}

/** The lanes of a mode are in one machine, but for those whose power is cut. */
export function machinesOf(mode: Mode, lanes: readonly Lane[], isLong: boolean): Machine[] {
  const own = lanes.filter(({ modes }) => modes.includes(mode));
  const together = own.filter(({ cuts }) => cuts === undefined);
  return [
    ...(together.length > 0 ? [{ name: mode, mode, lanes: together, cuts: 0 }] : []),
    ...own.flatMap((lane) => {
      if (lane.cuts === undefined) return [];
      const cuts = isLong ? lane.cuts.long : lane.cuts.short;
      return [{ name: `${mode}-${lane.name}`, mode, lanes: [{ ...lane, command: `RUNT_TEST_CUTS=${cuts} ${lane.command}` }], cuts }];
    }),
  ];
}
