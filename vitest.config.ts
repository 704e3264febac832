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
 * What waits for real processes on a machine that others use too gets a second try, and tools/test.sh names it. Not the lanes in which one
 * failure of many tries is the finding: attacks, faults, random walks.
 */
const SECOND_TRY = 1;

/** For what hangs. No test of one behaviour takes so long, whoever else has the processors; those that repeat it many times say their own time. */
const TIMEOUT = 180_000;
/** For lanes whose single tests attack, walk or build for minutes. */
const LONG_TIMEOUT = 1_200_000;

/** A failure is told whole: what tools/test.sh repeats at its end is all that is known of a run on another machine. */
const chaiConfig = { truncateThreshold: 2000 };

/**
 * The lanes: `vitest run --project NAME`. All but `unit`, `unit-mocked` and `findings` need root and make real containers, one file at a time
 * unless `maxWorkers` says more.
 */
const lane = (name: string, { retry = 0, maxWorkers = 1, timeout = TIMEOUT } = {}) => ({
  resolve: { alias },
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    maxWorkers,
    testTimeout: timeout * SLOW,
    retry,
    chaiConfig,
    // What comes about, comes about later where others have the processors.
    expect: { poll: { timeout: (TIMEOUT * SLOW) / 2 } },
    // Some build what their tests use.
    hookTimeout: LONG_TIMEOUT * SLOW,
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
      lane("native", { retry: SECOND_TRY }),
      lane("e2e", { retry: SECOND_TRY }),
      lane("differential", { retry: SECOND_TRY }),
      lane("clients", { retry: SECOND_TRY, timeout: LONG_TIMEOUT }),
      lane("findings", { timeout: LONG_TIMEOUT }),
      lane("security", { timeout: LONG_TIMEOUT }),
      lane("faults", { timeout: LONG_TIMEOUT }),
      lane("walk", { timeout: LONG_TIMEOUT }),
      lane("readme", { timeout: LONG_TIMEOUT }),
      lane("guard", { retry: SECOND_TRY }),
      lane("supply", { timeout: LONG_TIMEOUT }),
      lane("hosts", { timeout: LONG_TIMEOUT }),
      lane("library", { retry: SECOND_TRY }),
      // Its tests wait for most of their time: for probes, time-outs and back-off. Each file has daemons, directories and cgroups of its own.
      lane("engine", { retry: SECOND_TRY, maxWorkers: 3 }),
      { ...lane("guest"), test: { ...lane("guest").test, include: ["test/guest/cases/*.test.ts"] } },
    ],
  },
});
