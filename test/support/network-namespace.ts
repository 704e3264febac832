/** A network namespace for tests, which stands for the host's or for one that engines have made. */
import { spawn } from "node:child_process";
import { existsSync, readlinkSync } from "node:fs";
import { expect } from "vitest";
import { PATIENCE_MS } from "./patience.ts";

/** It exists as long as a process is in it. */
export interface NetworkNamespace {
  readonly file: string;
  end(): void;
}

export async function makeNetworkNamespace(): Promise<NetworkNamespace> {
  const own = readlinkSync("/proc/self/ns/net");
  const keeper = spawn("unshare", ["-n", "sleep", "1000"], { stdio: "ignore" });
  const file = `/proc/${keeper.pid}/ns/net`;
  await expect.poll(() => existsSync(file) && readlinkSync(file) !== own, { timeout: PATIENCE_MS }).toBe(true);
  return { file, end: () => keeper.kill("SIGKILL") };
}
