/** Verbs that are not waited for, of a runtime below a harness's directory. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import type { Config } from "./config.ts";
import { type Harness, RUNTIME, SLOW, shell } from "./harness.ts";
import { blocks } from "./process-status.ts";

export interface Ended {
  readonly status: number | null;
  readonly stderr: string;
  readonly milliseconds: number;
}

export interface Running {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly ended: Promise<Ended>;
}

/** How long a verb that "returns at once" may take on a busy machine. */
export const AT_ONCE_MS = 8_000 * SLOW;

/** A program that is still running. */
export const FOREVER = "exec sleep 1000";

export function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

export async function appears(path: string): Promise<void> {
  await expect.poll(() => existsSync(path), { interval: 10 }).toBe(true);
}

/** Wait until a verb is so far that a signal makes it take back what it has made. */
export async function heedsTerm({ pid }: Running): Promise<void> {
  await expect.poll(() => blocks(pid, constants.signals.SIGTERM), { interval: 10 }).toBe(true);
}

/** To be called inside `describe`. What still runs is killed after each test. */
export function useBackground({ bundle, id, ok, root }: Harness) {
  let started: ChildProcess[] = [];
  afterEach(() => {
    for (const process of started) if (process.exitCode === null && process.signalCode === null) process.kill("SIGKILL");
    started = [];
  });

  /** A verb that is not waited for. */
  const begin = (words: readonly string[], command = [RUNTIME, "--root", root]): Running => {
    const [program, ...args] = [...command, ...words] as [string, ...string[]];
    const before = Date.now();
    const process = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
    started.push(process);
    let stderr = "";
    process.stderr.on("data", (chunk) => (stderr += chunk));
    const ended = new Promise<Ended>((resolve) =>
      process.on("close", (code, signal) =>
        resolve({ status: signal ? null : code, stderr: stderr.trimEnd(), milliseconds: Date.now() - before }),
      ),
    );
    return { process, pid: process.pid!, ended };
  };
  const timed = async (words: readonly string[]): Promise<Ended> => begin(words).ended;
  const exists = (name: string) => existsSync(join(root, name));
  const initOf = async (name: string): Promise<number> => JSON.parse(await ok(["state", name])).pid;
  /** A detached container. Its program sleeps, unless the test changes it. */
  const running = async (change: (config: Config) => void = () => {}): Promise<string> => {
    const name = id();
    const path = bundle((config) => {
      shell(config, FOREVER);
      change(config);
    });
    await ok(["run", "-d", "-b", path, name]);
    return name;
  };
  return { begin, timed, exists, initOf, running };
}
