/** A program of test/probe that waits on a socket, and its output so far. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { afterEach, expect } from "vitest";
import { PATIENCE_MS } from "./patience.ts";
import { program } from "./programs.ts";

export interface Receiver {
  readonly pid: number;
  /** Lines after "listening". */
  lines(): readonly string[];
  /** Waits until it has printed so many lines; returns them. */
  said(count: number): Promise<readonly string[]>;
}

/** To be called inside `describe`: receivers end with the test. Returns a starter, which waits until the receiver listens. */
export function useReceivers(directory: string): (name: string, ...args: readonly string[]) => Promise<Receiver> {
  const children: ChildProcess[] = [];
  let count = 0;
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await new Promise((done) => child.once("exit", done));
    }
  });
  return async (name, ...args) => {
    const file = `${directory}/${name}-${++count}.out`;
    const out = openSync(file, "w");
    const child = spawn(program(name), args, { stdio: ["ignore", out, "inherit"] });
    closeSync(out);
    children.push(child);
    const text = () => readFileSync(file, "utf8").split("\n").slice(0, -1);
    const poll = { timeout: PATIENCE_MS, interval: 20 };
    await expect.poll(() => text()[0], poll).toBe("listening");
    const lines = () => text().slice(1);
    return {
      pid: child.pid!,
      lines,
      async said(wanted) {
        await expect.poll(() => lines().length, poll).toBeGreaterThanOrEqual(wanted);
        return lines();
      },
    };
  };
}
