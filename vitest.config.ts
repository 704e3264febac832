import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const host = fileURLToPath(new URL("test/support/node-host.ts", import.meta.url));

/** How much slower than usual the machine is (test/guest). */
const SLOW = Number(process.env["RUNT_TEST_SLOW"] ?? 1);

/**
 * What waits for real processes on a machine that others use too gets a second try, and tools/test.sh names it. Not the lanes in which one
 * failure of many tries is the finding: attacks, faults, random walks.
 */
const SECOND_TRY = 1;

/** A failure is told whole: what tools/test.sh repeats at its end is all that is known of a run on another machine. */
const chaiConfig = { truncateThreshold: 2000 };

/** The lanes: `vitest run --project NAME`. All but `unit`, `unit-mocked` and `findings` need root and make real containers, one file at a time. */
const lane = (name: string, testTimeout: number, retry = 0) => ({
  resolve: { alias: { "runt:host": host } },
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    fileParallelism: false,
    testTimeout: testTimeout * SLOW,
    retry,
    chaiConfig,
    // What comes about, comes about later where others have the processors.
    expect: { poll: { timeout: (testTimeout * SLOW) / 2 } },
    hookTimeout: 60_000 * SLOW,
  },
});

const UNIT = ["src/**/*.test.ts", "test/unit/**/*.test.ts", "tools/**/*.test.ts", "bench/*.test.ts", "test/guest/*.test.ts"];
/** They wait for nothing, but thousands of random cases share the processors with whoever is there. */
const UNIT_TIMEOUT = 120_000;
/** Tests that replace modules have them for themselves. The others share what a worker has loaded, which takes a third of the time. */
const MOCKED = ["src/**/*.mocked.test.ts", "test/unit/**/*.mocked.test.ts", "tools/**/*.mocked.test.ts"];
const unit = (name: string, options: Readonly<{ include: string[]; exclude?: string[]; isolate?: boolean }>) => ({
  resolve: { alias: { "runt:host": host } },
  test: { name, chaiConfig, testTimeout: UNIT_TIMEOUT * SLOW, hookTimeout: UNIT_TIMEOUT * SLOW, ...options },
});

export default defineConfig({
  test: {
    projects: [
      unit("unit", { include: UNIT, exclude: MOCKED, isolate: false }),
      unit("unit-mocked", { include: MOCKED }),
      lane("native", 120_000, SECOND_TRY),
      lane("e2e", 60_000, SECOND_TRY),
      lane("differential", 60_000, SECOND_TRY),
      lane("clients", 60_000, SECOND_TRY),
      lane("findings", 60_000),
      lane("security", 60_000),
      lane("faults", 120_000),
      lane("walk", 120_000),
      lane("readme", 120_000),
      lane("guard", 60_000, SECOND_TRY),
      lane("supply", 60_000),
      lane("library", 60_000, SECOND_TRY),
      lane("engine", 60_000, SECOND_TRY),
      { ...lane("guest", 30_000), test: { ...lane("guest", 30_000).test, include: ["test/guest/cases/*.test.ts"] } },
    ],
  },
});
