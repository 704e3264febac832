/** Bundles whose mounts criu is told of, with links that a container could have made. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import type { Config } from "./config.ts";
import { type Dumps, useDumps } from "./dumps.ts";
import { FIELD, pairs } from "./fake-criu.ts";
import type { Harness } from "./harness.ts";
import { sharedRootfs } from "./programs.ts";
import { runSync } from "./run-sync.ts";

export const bind = (destination: string, source: string, ...options: string[]) => ({
  destination,
  type: "bind",
  source,
  options: ["bind", ...options],
});

export interface DumpedMounts extends Dumps {
  /** A directory of this test's. */
  made(...names: string[]): string;
  /** A root filesystem of this test's: links lead to directories that are made in it. */
  rootfs(links: Readonly<Record<string, string>>): string;
  /** Mount on the host until the test ends. */
  mountHere(...args: string[]): void;
  /** Restores, expecting success. Returns what criu was asked to bind. */
  restored(change: (config: Config) => void): Promise<(string | undefined)[][]>;
  /** Restores, expecting that criu is never asked and nothing is left. Returns stderr. */
  refused(change: (config: Config) => void): Promise<string>;
}

/** Registers hooks: to be called inside `describe`, after useHarness. */
export function useDumpedMounts(harness: Harness): DumpedMounts {
  const dumps = useDumps(harness);
  const { image, ok, requests, restoring, runtime } = dumps;
  let count = 0;
  let endings: (() => void)[] = [];

  afterEach(() => {
    for (const end of endings.reverse()) end();
    endings = [];
  });

  return {
    ...dumps,
    made(...names) {
      const path = join(harness.directory, `made-${++count}`, ...names);
      mkdirSync(path, { recursive: true });
      return path;
    },
    rootfs(links) {
      const own = join(harness.directory, `rootfs-${++count}`);
      runSync("cp", ["-a", sharedRootfs(), own]);
      for (const [link, target] of Object.entries(links)) {
        mkdirSync(join(own, target), { recursive: true });
        symlinkSync(target, join(own, link));
      }
      return own;
    },
    mountHere(...args) {
      runSync("mount", args);
      endings.push(() => runSync("umount", [args.at(-1)!]));
    },
    async restored(change) {
      image();
      await ok(restoring(change).args);
      return pairs(requests()[0]!.options, FIELD.externalMounts);
    },
    async refused(change) {
      image();
      const { name, args } = restoring(change);
      const { status, stderr } = await runtime(args);
      expect([status, requests()]).toEqual([1, []]);
      expect((await runtime(["state", name])).stderr).toContain("container does not exist");
      return stderr;
    },
  };
}
