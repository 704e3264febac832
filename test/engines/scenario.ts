/** A scenario: engine commands and the expected result of each. Scenarios are data; run.ts executes them. */
import type { Engine } from "./engine.ts";

export interface Expectation {
  /** Exit status; 0 when absent, "any" for no opinion. */
  readonly status?: number | "any" | "not-zero";
  /** All of these must match. */
  readonly stdout?: RegExp | readonly RegExp[];
  /** Matched against stdout and stderr together. */
  readonly output?: RegExp | readonly RegExp[];
  readonly not?: RegExp;
}

/**
 * One step. In arguments `{id}` is the scenario's container name, `{image}` the image, `{dir}` a directory of the scenario,
 * `{cgroup:HIERARCHY}` the directory of the container's cgroup.
 */
export interface Step {
  /**
   * `engine`: the engine's client; `host`: a shell command; `update`: LinuxResources as JSON through containerd's API; `restart`: the
   * daemon gets the signal, and another one takes its place.
   */
  readonly kind: "engine" | "host" | "update" | "restart";
  readonly args: readonly string[];
  readonly expect: Expectation;
  /** Repeat until the expectation is met, at most this many milliseconds. */
  readonly within?: number;
  /** Run on a terminal of its own. */
  readonly tty?: boolean;
  readonly input?: string;
  /** Do not wait; what it printed is matched when the scenario ends (it is ended by SIGTERM then). */
  readonly background?: boolean;
  /** Run this many of it at once; `{n}` in arguments is the number. */
  readonly copies?: number;
}

type StepOptions = Omit<Step, "kind" | "args" | "expect">;

const step =
  (kind: Step["kind"]) =>
  (args: readonly string[], expect: Expectation = {}, options: StepOptions = {}): Step => ({ kind, args, expect, ...options });

export const engine = step("engine");
export const host = (command: string, expect: Expectation = {}, options: StepOptions = {}): Step =>
  step("host")([command], expect, options);
export const update = (resources: unknown): Step => step("update")([JSON.stringify(resources)]);
export const restart = (signal: NodeJS.Signals): Step => step("restart")([signal]);

export interface Scenario {
  readonly name: string;
  /** Expectations that only this runtime promises. */
  readonly only?: string;
  /** Why it is none for containers in machines: what engines look up on the host is the machine's there. */
  readonly notInMachines?: string;
  readonly steps: readonly Step[];
  /** After the steps; for engines whose client is in this process. Throws what is wrong. */
  readonly act?: (stage: Stage) => Promise<void>;
}

export interface Stage {
  readonly engine: Engine;
  /** The scenario's name in engine and kernel. */
  readonly id: string;
  /** A directory of its own. */
  readonly directory: string;
}

/** The first line of what was not as expected; undefined if all was. */
export function mismatch(expect: Expectation, status: number, stdout: string, stderr: string): string | undefined {
  const wanted = expect.status ?? 0;
  if (wanted === "not-zero" ? status === 0 : wanted !== "any" && status !== wanted) return `status ${status}, expected ${wanted}`;
  for (const pattern of list(expect.stdout)) if (!pattern.test(stdout)) return `stdout does not match ${pattern}`;
  for (const pattern of list(expect.output)) if (!pattern.test(`${stdout}\n${stderr}`)) return `output does not match ${pattern}`;
  if (expect.not?.test(`${stdout}\n${stderr}`)) return `output matches ${expect.not}`;
  return undefined;
}

function list(patterns: RegExp | readonly RegExp[] | undefined): readonly RegExp[] {
  return patterns === undefined ? [] : patterns instanceof RegExp ? [patterns] : patterns;
}
