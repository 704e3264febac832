/** `make fuzz-doors` in short: hostile input at every door of a daemon, for a little while and always the same. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { REPOSITORY } from "../support/programs.ts";
import { isRoot, LONGEST_MS } from "./support.ts";

const SECONDS = 20;

describe.skipIf(!isRoot)("doors (needs root)", () => {
  test(
    "no head, frame, body, file or image ends the daemon, keeps it from answering or stays in it",
    async () => {
      const args = ["--import", "tsx", "test/fuzz-doors/main.ts", String(SECONDS), "1"];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: REPOSITORY, timeout: LONGEST_MS, killSignal: "SIGKILL" });
      expect(stdout).toMatch(/^seed 1: [1-9]\d* inputs in 20 s/);
    },
    LONGEST_MS + SECONDS * 1000,
  );
});
