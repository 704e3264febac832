/** Counts the system calls of a verb with strace up to the verb's end. Calls of a container that lives on are not counted after it. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { PATIENCE_MS } from "./patience.ts";

const POLL_MS = 20;

/** Lines of strace that begin a system call. How often a process yields while it waits depends on time (native-bindings/shared/spin_wait.h): it is left out. */
function countLines(trace: string): number {
  return trace.split("\n").filter((line) => line !== "" && !/^\d+ +(<\.\.\.|---|\+\+\+|sched_yield\()/.test(line)).length;
}

/** The first process of a trace, and how it ended as far as is known. */
function endOfVerb(trace: string): number | undefined {
  const pid = /^\d+/.exec(trace)?.[0];
  const status = pid === undefined ? undefined : new RegExp(`^${pid} +\\+\\+\\+ (?:exited with (\\d+)|killed)`, "m").exec(trace);
  return status === null || status === undefined ? undefined : Number(status[1] ?? 255);
}

/** System calls of a command and of all that it starts; `file` is for the trace. Returns undefined when the command failed. */
export async function countCalls(file: string, command: readonly string[]): Promise<number | undefined> {
  writeFileSync(file, "");
  // strace writes line by line only into a pipe, and ends by a signal only with -I 2.
  const strace = spawn("strace", ["-f", "-q", "-I", "2", "-o", `|cat >${file}`, ...command], { stdio: "ignore" });
  const deadline = Date.now() + PATIENCE_MS;
  while (endOfVerb(readFileSync(file, "utf8")) === undefined && Date.now() < deadline) await sleep(POLL_MS);
  await detach(strace);
  const text = readFileSync(file, "utf8");
  return endOfVerb(text) === 0 ? countLines(text) : undefined;
}

async function detach(strace: ChildProcess): Promise<void> {
  if (strace.exitCode !== null) return;
  const ended = new Promise((done) => strace.once("exit", done));
  strace.kill("SIGTERM");
  await ended;
}
