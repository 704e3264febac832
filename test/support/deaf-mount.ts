/** A mount whose server does not answer, as that of a network share that is gone. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, onTestFinished } from "vitest";
import { listedAt, untilAnswered } from "../../src/node/index.ts";

/** Whether tests can have one here. */
export const canBeDeaf = process.geteuid?.() === 0 && existsSync("/dev/fuse");
/** Seconds for which it does not answer: then it is broken, and whoever waits for it goes on, so that a test that finds a fault ends. */
export const DEAF_S = 30;

/** Mounts one at a directory, until the end of the test. Nobody may look at the directory from now on. @param seconds as long as it does not answer. Returns what ends it earlier. */
export async function mountDeaf(directory: string, seconds = DEAF_S): Promise<() => Promise<void>> {
  const program = new URL("deaf-fuse.mjs", import.meta.url).pathname;
  const child = spawn("timeout", ["-s", "KILL", String(seconds), process.execPath, program, directory], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const release = () => end(child, directory);
  onTestFinished(release);
  await new Promise<void>((resolve, reject) => {
    let printed = "";
    child.stdout.on("data", (data) => {
      printed += data;
      if (printed.includes("mounted")) resolve();
    });
    child.once("error", reject).once("exit", () => reject(new Error(`nothing was mounted at ${directory}`)));
  });
  return release;
}

/** The same when the engine has asked it already: then it refuses its paths at once. */
export async function mountKnownDeaf(directory: string): Promise<void> {
  await mountDeaf(directory);
  await expect(untilAnswered([directory], { timeoutMs: 100 })).rejects.toThrow("does not answer");
}

async function end(child: ChildProcess, directory: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, "exit");
    // It is a process group of its own: timeout(1) makes one.
    process.kill(-child.pid!, "SIGKILL");
    await ended;
  }
  if (listedAt(directory) !== undefined) execFileSync("umount", ["--no-canonicalize", "--internal-only", "--lazy", directory]);
}
