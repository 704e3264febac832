/** Containers that count in their memory: what a dumped one had is seen in what the restored one goes on with. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect } from "vitest";
import type { Config } from "./config.ts";
import { criuMissing } from "./criu.ts";
import { type Harness, shell } from "./harness.ts";

export const CRIU_TIMEOUT = 240_000;
export const hasCriu = existsSync("/usr/sbin/criu") || criuMissing() === undefined;

export const MIB = 1024 * 1024;
export const MEMORY = { v1: "memory.limit_in_bytes", v2: "memory.max" };
/** Tells its count and keeps it in memory alone. criu does not mind when a file that is open for appending has grown. */
const COUNTER = "n=0; while :; do n=$((n+1)); echo $n >>/data/count; usleep 20000; done";
/** A count that one that began again has not. */
export const FLOOR = 5;

/** Registers a hook: to be called inside `describe`, after useHarness. */
export function useCounters({ bundle, directory, id, ok }: Harness) {
  let endings: (() => void)[] = [];
  let made = 0;

  afterEach(() => {
    for (const end of endings.reverse()) end();
    endings = [];
  });

  /** A path in the test's directory that is not there yet. */
  const fresh = (name: string) => join(directory, `${name}-${++made}`);
  const atEnd = (end: () => void) => void endings.push(end);

  function prepared(change: (config: Config) => void = () => {}, command = COUNTER): { path: string; data: string } {
    const data = fresh("data");
    mkdirSync(data);
    const path = bundle((config) => {
      shell(config, command);
      config.mounts.push({ destination: "/data", type: "bind", source: data, options: ["rbind", "rw"] });
      config.linux.resources = { memory: { limit: 64 * MIB } };
      change(config);
    });
    return { path, data };
  }

  const images = () => fresh("images");
  const counts = (data: string) =>
    existsSync(join(data, "count")) ? readFileSync(join(data, "count"), "utf8").trim().split("\n").map(Number) : [];
  const count = (data: string) => counts(data).at(-1) ?? 0;
  const passes = (data: string, least: number) => expect.poll(() => count(data), { timeout: 30_000 }).toBeGreaterThan(least);
  const stateOf = async (name: string) => JSON.parse(await ok(["state", name]));

  async function counting(globals: readonly string[] = [], change?: (config: Config) => void) {
    const name = id();
    const { path, data } = prepared(change);
    await ok([...globals, "run", "-d", "-b", path, name]);
    await passes(data, FLOOR);
    return { name, path, data };
  }

  /** The count of a dumped container stands still; that of a restored one goes on from there and not from 1. */
  async function goesOn(name: string, path: string, data: string, image: string, globals: readonly string[] = []): Promise<number> {
    const before = counts(data);
    await sleep(300);
    expect(counts(data)).toEqual(before);
    const pidFile = join(directory, `${name}.pid`);
    await ok([...globals, "restore", "-d", "--pid-file", pidFile, "--image-path", image, "-b", path, name]);
    await expect.poll(() => counts(data).length, { timeout: 30_000 }).toBeGreaterThan(before.length);
    const next = counts(data)[before.length]!;
    expect(next).toBeGreaterThan(FLOOR);
    expect(next).toBeLessThanOrEqual(before.at(-1)! + 1);
    const { pid, status } = await stateOf(name);
    expect(status).toBe("running");
    expect(readFileSync(pidFile, "utf8")).toBe(String(pid));
    return pid;
  }

  return { atEnd, count, counting, fresh, goesOn, images, passes, prepared, stateOf };
}
