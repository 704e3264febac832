import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const inSupport = (name: string) => fileURLToPath(new URL(`test/support/${name}.ts`, import.meta.url));
/** What tests have of the host module and of the client's platform, which are there in the executables only. */
const alias = [
  { find: "runt:host", replacement: inSupport("node-host") },
  { find: /^(?:\.\.?\/)+platform\/index\.ts$/, replacement: inSupport("client-platform") },
];

/** How much slower than usual the machine is (test/guest). */
const SLOW = Number(process.env["RUNT_TEST_SLOW"] ?? 1);

/**
 * For what hangs, a hook as well as a test. Nothing of `make test` takes so long, whoever else has the processors; the long forms say their own
 * time (tools/test-limits.test.ts). No lane tries a test a second time: a test that fails once has found something, in itself or elsewhere.
 */
const TIMEOUT = 180_000;
/** For lanes whose single tests install or build for minutes, none of them part of `make test`. */
const LONG_TIMEOUT = 1_200_000;

/** A failure is told whole: what tools/test.sh repeats at its end is all that is known of a run on another machine. */
const chaiConfig = { truncateThreshold: 2000 };

/**
 * What a lane that runs in a second place takes there (tools/test.sh: LANE@PLACE/SUBJECT): the files with a subject that the place has a say in, told by what they
 * look at. All others run once, with cgroup v2 where there is a choice.
 */
const MOUNTS = /mountinfo|propagation|"r?(?:shared|slave|private)"|support\/(?:host|own|dumped)-mounts/i;
const CGROUPS = /\/sys\/fs\/cgroup|cgroupsPath|support\/(?:cgroups|hierarchies|limits)/;
const SUBJECTS: Readonly<Record<string, (text: string) => boolean>> = {
  mounts: (text) => MOUNTS.test(text),
  cgroups: (text) => MOUNTS.test(text) || CGROUPS.test(text),
};
const subject = process.env["RUNT_TEST_SUBJECT"];

/** Patterns of the test files below a directory, without those that have another subject than the one that is asked for. */
function filesBelow(directory: string): string[] {
  const hasSubject = subject ? SUBJECTS[subject] : undefined;
  if (hasSubject === undefined) return [`${directory}/**/*.test.ts`];
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".test.ts"));
  return files.map((name) => `${directory}/${name}`).filter((path) => hasSubject(readFileSync(path, "utf8")));
}

/**
 * The lanes: `vitest run --project NAME`. All but `unit`, `unit-mocked` and `findings` need root and make real containers, one file at a time
 * unless `maxWorkers` says more.
 */
const lane = (name: string, { maxWorkers = 1, timeout = TIMEOUT, directory = `test/${name}` } = {}) => ({
  resolve: { alias },
  test: {
    name,
    include: filesBelow(directory),
    maxWorkers,
    testTimeout: timeout * SLOW,
    chaiConfig,
    // What comes about, comes about later where others have the processors.
    expect: { poll: { timeout: (TIMEOUT * SLOW) / 2 } },
    hookTimeout: timeout * SLOW,
  },
});

const UNIT = ["src/**/*.test.ts", "test/unit/**/*.test.ts", "tools/**/*.test.ts", "bench/*.test.ts", "test/guest/*.test.ts"];
/** Tests that replace modules have them for themselves. The others share what a worker has loaded, which takes a third of the time. */
const MOCKED = ["src/**/*.mocked.test.ts", "test/unit/**/*.mocked.test.ts", "tools/**/*.mocked.test.ts"];
const unit = (name: string, options: Readonly<{ include: string[]; exclude?: string[]; isolate?: boolean }>) => ({
  resolve: { alias },
  test: { name, chaiConfig, testTimeout: TIMEOUT * SLOW, hookTimeout: TIMEOUT * SLOW, ...options },
});

export default defineConfig({
  test: {
    projects: [
      unit("unit", { include: UNIT, exclude: MOCKED, isolate: false }),
      unit("unit-mocked", { include: MOCKED }),
      lane("native"),
      lane("e2e"),
      lane("differential"),
      lane("clients"),
      lane("findings"),
      lane("security"),
      lane("faults"),
      lane("walk"),
      lane("readme"),
      lane("guard"),
      lane("supply", { timeout: LONG_TIMEOUT }),
      lane("hosts", { timeout: LONG_TIMEOUT }),
      lane("site", { timeout: LONG_TIMEOUT, directory: "site/test" }),
      lane("library"),
      // Its tests wait for most of their time: for probes, time-outs and back-off. Each file has daemons, directories and cgroups of its own.
      lane("engine", { maxWorkers: 4 }),
      { ...lane("guest"), test: { ...lane("guest").test, include: ["test/guest/cases/*.test.ts"], hookTimeout: LONG_TIMEOUT * SLOW } },
    ],
  },
});
