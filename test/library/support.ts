/** Executors for tests, below a directory and a cgroup of their own; nothing of them may be left. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type CommandLaunch, Executor, type ExecutorOptions } from "../../src/executor/index.ts";
import { CGROUP_PARENT, hostTraces } from "../support/leaks.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { REPOSITORY, reachableRootfs, sharedRootfs } from "../support/programs.ts";

export const RUNT = join(REPOSITORY, "bin/runt");
export const isRoot = process.geteuid?.() === 0;

export interface Executors {
  readonly directory: string;
  readonly stateDir: string;
  /** Shared: nothing writes into it. */
  rootfs(): string;
  /** A root file system of a test's own. */
  ownRootfs(): string;
  /** A new executor; shut down and removed after the test. */
  executor(options?: Partial<ExecutorOptions>): Executor;
  /** A shell script in the shared root file system. */
  script(text: string, rest?: Partial<CommandLaunch>): CommandLaunch;
}

/** Registers the hooks of a test file. To be called inside `describe`. */
export function useExecutors(): Executors {
  // Made before the first test only: the hooks of a skipped file never run.
  const directory = join(tmpdir(), `runt-library-${randomUUID().slice(0, 8)}`);
  const stateDir = join(directory, "executors");
  let made = "";
  let before = new Set<string>();
  let count = 0;
  let alive: Executor[] = [];
  const rootfs = () => (made ||= reachableRootfs(directory));

  beforeAll(() => {
    mkdirSync(directory);
    execFileSync("chmod", ["711", directory]);
    rootfs();
    before = hostTraces(directory);
  });
  afterEach(async () => {
    for (const executor of alive) {
      await executor.shutdown({ graceMs: 0 });
      executor.remove();
    }
    alive = [];
  });
  afterAll(async () => {
    const leaks = () => [...hostTraces(directory)].filter((line) => !before.has(line));
    const deadline = Date.now() + PATIENCE_MS;
    while (leaks().length > 0 && Date.now() < deadline) await sleep(50);
    try {
      expect(leaks()).toEqual([]);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  return {
    directory,
    stateDir,
    rootfs,
    ownRootfs() {
      const path = join(directory, `rootfs-${++count}`);
      execFileSync("cp", ["-ax", sharedRootfs(), path]);
      return path;
    },
    executor(options = {}) {
      const executor = new Executor({ stateDir, id: `x${process.pid}-${++count}`, ...options });
      alive.push(executor);
      return executor;
    },
    script: (text, rest = {}) => ({ rootfs: rootfs(), cmd: "/bin/sh", args: ["-c", text], cgroupParent: CGROUP_PARENT, ...rest }),
  };
}

/** A test whose title begins with its numbers in docs/executor-behaviour.md. */
export function row(ids: string, title: string, body: () => unknown, timeout?: number): void {
  test(`${ids}: ${title}`, body as () => void, timeout);
}

/** The text of a stream until it ends. */
export async function textOf(stream: NodeJS.ReadableStream | undefined): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream ?? []) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Run a script to its end. Returns what it has printed, and its exit status. */
export async function printed(
  executor: Executor,
  command: CommandLaunch,
): Promise<{ readonly text: string; readonly exitCode: number | null }> {
  await executor.launch({ ...command, stdio: { stdout: "pipe", ...command.stdio } });
  const text = await textOf(executor.stdout);
  return { text, exitCode: (await executor.wait()).exitCode };
}

/** What `runt state` says of an executor's container. */
export function statusOf(stateDir: string, id: string): { readonly status: string; readonly pid: number } {
  return JSON.parse(execFileSync(RUNT, ["--root", join(stateDir, "@runtime"), "state", id], { encoding: "utf8" }));
}

/** Value of a field of /proc/PID/status. */
export function statusField(pid: number, name: string): string {
  return new RegExp(`^${name}:\\s*(.*)$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "";
}

export function isGone(pid: number): boolean {
  try {
    return /^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return true; // ENOENT, or ESRCH when it goes while it is read.
  }
}

/** An executable that does something before it becomes runt. */
export function wrapper(directory: string, name: string, lines: string): string {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  return path;
}

export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = PATIENCE_MS): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${condition}`);
    await sleep(10);
  }
}

export { CGROUP_PARENT, REPOSITORY, sleep };
