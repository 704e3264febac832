/** Steps for command lines in Docker's manner, which Podman's is too. */
import { IMAGE } from "../engine.ts";
import { type Expectation, engine, type Step } from "../scenario.ts";

export const SECOND = 1000;
export const SLEEP = ["sleep", "60"];

export const run = (flags: readonly string[], command: readonly string[], expect: Expectation = {}, options: Partial<Step> = {}): Step =>
  engine(["run", "--rm", ...flags, IMAGE, ...command], expect, options);
export const shell = (flags: readonly string[], script: string, expect: Expectation = {}): Step => run(flags, ["sh", "-c", script], expect);
export const detached = (flags: readonly string[] = [], command: readonly string[] = SLEEP): Step =>
  engine(["run", "-d", "--name", "{id}", ...flags, IMAGE, ...command]);
export const inspect = (format: string, expected: RegExp, within = 5 * SECOND): Step =>
  engine(["inspect", "--format", format, "{id}"], { stdout: expected }, { within });
export const logs = (expected: RegExp): Step => engine(["logs", "{id}"], { output: expected }, { within: 5 * SECOND });
