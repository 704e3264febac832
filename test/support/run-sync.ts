import { type ExecFileSyncOptions, execFileSync } from "node:child_process";
import { PATIENCE_MS } from "./patience.ts";

/** Less than a test has: vitest cannot end a test that waits like this. */
const LONGEST_MS = 2 * PATIENCE_MS;

/** Runs a program to its end, and nothing else goes on meanwhile. Returns what it printed. @throws Error: it failed, or it took too long and was killed */
export function runSync(
  program: string,
  args: readonly string[],
  options: Pick<ExecFileSyncOptions, "cwd" | "env" | "stdio"> = {},
): string {
  return execFileSync(program, args, { encoding: "utf8", timeout: LONGEST_MS, killSignal: "SIGKILL", ...options });
}
