/** Every case the fuzzer has kept (test/fuzz-init), once more under the sanitizers of gcc; `make fuzz-init` looks for new ones with clang. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { REPOSITORY } from "../support/programs.ts";

const HELPER_CASES = ["corpus.pack", "regressions.pack"];
const CASES_LEAST = 500;
const HOST_CASES_LEAST = 30;

function replay(build: string, packs: readonly string[]) {
  const program = join(REPOSITORY, "build/fuzz", build, "run");
  // As in test/fuzz-init/options.sh.
  const env = {
    ...process.env,
    ASAN_OPTIONS: "detect_stack_use_after_return=1:detect_leaks=0:quarantine_size_mb=8:allocator_may_return_null=1",
  };
  return spawnSync(
    program,
    packs.map((name) => join(REPOSITORY, "test/fuzz-init", name)),
    { encoding: "utf8", timeout: PATIENCE_MS, env },
  );
}

describe("the helper under a fake kernel", () => {
  test("goes through the corpus of the fuzzer without a finding", () => {
    const { stdout, stderr, status } = replay("gcc", HELPER_CASES);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(Number.parseInt(stdout, 10)).toBeGreaterThan(CASES_LEAST);
  });

  test("does not get through it when its decoder accepts a string without its end", () => {
    const { stderr, status } = replay("planted-gcc", HELPER_CASES);
    expect(status).not.toBe(0);
    expect(stderr).toContain("heap-buffer-overflow");
    expect(stderr).toContain("in read_text");
  });
});

test("the host module's parsers of what a container writes go through theirs", () => {
  const { stdout, stderr, status } = replay("host-gcc", ["host/corpus.pack"]);
  expect(stderr).toBe("");
  expect(status).toBe(0);
  expect(Number.parseInt(stdout, 10)).toBeGreaterThan(HOST_CASES_LEAST);
});
