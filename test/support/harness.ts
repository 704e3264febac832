/** Runs a runtime (RUNTIME, by default bin/runt) on bundles in a temporary directory, and checks that nothing is left. */
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type CallOptions, call, type Result } from "./call.ts";
import { hasControllers, withoutLimits } from "./cgroups.ts";
import { type Config, sampleConfig } from "./config.ts";
import { CGROUP_PARENT, hostTraces } from "./leaks.ts";
import { PATIENCE_MS } from "./patience.ts";
import { REPOSITORY, reachableRootfs } from "./programs.ts";

export { type CallOptions, call, type Result } from "./call.ts";
export { SLOW } from "./patience.ts";

export const RUNTIME = process.env.RUNTIME ?? join(REPOSITORY, "bin/runt");
/** Tests of behaviour that only runt has are skipped for its peers. */
export const isRunt = basename(RUNTIME).startsWith("runt");
export const isRoot = process.geteuid?.() === 0;
/** Whether a way to save time is switched off (`make test-without-overlap`). */
export const isSwitchedOff = (name: "head-start" | "schedule"): boolean => (process.env["RUNT_DISABLE"] ?? "").split(",").includes(name);

export interface Harness {
  /** Temporary directory of this test file. */
  readonly directory: string;
  /** State root. */
  readonly root: string;
  /** Make a bundle from a sample's config.json. Returns its directory. */
  bundle(change?: (config: Config) => void, sample?: string): string;
  /** The root file system of bundles that name no other one: read-only for tests. */
  rootfs(): string;
  /** A new container id; the container is deleted by force after the test. */
  id(): string;
  /** Run the runtime with --root. */
  runtime(args: readonly string[], options?: CallOptions): Promise<Result>;
  /** The same, expecting success. Returns stdout. */
  ok(args: readonly string[], options?: CallOptions): Promise<string>;
  /** Wait until `state` shows this status. */
  until(id: string, status: string): Promise<void>;
}

/** The container runs this shell command. */
export function shell(config: Config, command: string): void {
  config.process.args = ["/bin/sh", "-c", command];
}

/** Registers the hooks of a test file. To be called inside `describe`. `peers`: other runtimes are run too. */
export function useHarness({ peers = !isRunt } = {}): Harness {
  // Made before the first test only: the hooks of a skipped file never run.
  const directory = join(tmpdir(), `runt-test-${process.pid}-${Math.random().toString(36).slice(2)}`);
  const root = join(directory, "root");
  let made = "";
  const rootfs = () => (made ||= reachableRootfs(directory));
  let before = new Set<string>();
  let count = 0;
  let ids: string[] = [];

  const runtime = (args: readonly string[], options?: CallOptions) => call(directory, [RUNTIME, "--root", root, ...args], options);

  beforeAll(() => {
    mkdirSync(directory, { mode: 0o711 });
    rootfs();
    before = hostTraces(directory);
  });
  afterEach(async () => {
    for (const id of ids) await runtime(["delete", "--force", id]);
    ids = [];
  });
  afterAll(async () => {
    try {
      expect(await settledLeaks(directory, before, peers)).toEqual([]);
    } finally {
      rmSync(directory, { recursive: true, force: true });
      if (peers) removeParents();
    }
  });

  return {
    directory,
    root,
    rootfs,
    runtime,
    bundle(change = () => {}, sample = "hello") {
      const path = join(directory, `bundle-${++count}`);
      mkdirSync(path);
      const config = sampleConfig(sample);
      config.root.path = rootfs();
      config.linux.cgroupsPath = `${CGROUP_PARENT}/${count}`;
      if (!hasControllers) config.linux.resources = withoutLimits(config.linux.resources);
      change(config);
      writeFileSync(join(path, "config.json"), JSON.stringify(config, null, 2));
      return path;
    },
    id() {
      const id = `t${process.pid}-${++count}`;
      ids.push(id);
      return id;
    },
    async ok(args, options) {
      const result = await runtime(args, options);
      if (result.status !== 0) throw new Error(`${args.join(" ")}: status ${result.status}: ${result.stderr || result.stdout}`);
      return result.stdout;
    },
    async until(id, status) {
      await expect.poll(async () => JSON.parse((await runtime(["state", id])).stdout || "{}").status, { interval: 50 }).toBe(status);
    },
  };
}

function removeParents(): void {
  for (const hierarchy of ["", ...readdirSync("/sys/fs/cgroup")]) {
    const path = `/sys/fs/cgroup/${hierarchy}${CGROUP_PARENT}`;
    if (existsSync(path)) rmdirSync(path);
  }
}

/** Leaks that are still there after dying processes had time to end. */
async function settledLeaks(directory: string, before: ReadonlySet<string>, peers: boolean): Promise<string[]> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = leaks(directory, before).filter((line) => !(peers && isParent(line)));
    if (found.length === 0 || Date.now() > deadline) return found;
    await sleep(50);
  }
}

/** runc and crun leave the parents of a cgroup they made; runt may not. */
function isParent(line: string): boolean {
  return line.startsWith("cgroup ") && line.endsWith(CGROUP_PARENT);
}

function leaks(directory: string, before: ReadonlySet<string>): string[] {
  return [...hostTraces(directory)].filter((line) => !before.has(line));
}
