/** Row X47: whom the end of an exec may reach. The law is that of src/runtime/cgroup/ownership.ts. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { isUnified } from "../support/cgroups.ts";
import { CGROUP_PARENT, isGone, isRoot, row, until, useExecutors } from "./support.ts";

/** The first choice for the cgroup of an exec. */
const HIERARCHY = isUnified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/freezer";

describe.skipIf(!isRoot)("executor: strangers (needs root)", () => {
  const { executor, script } = useExecutors();
  let stranger: ChildProcess | undefined;
  afterEach(async () => {
    const ended = new Promise((resolve) => stranger?.once("exit", resolve));
    if (stranger?.kill("SIGKILL")) await ended;
  });

  row("X47", "in a cgroup that existed before the container, the end of an exec also ends its children, and no other process", async () => {
    for (const way of ["deadline", "abort", "kill"] as const) {
      const one = executor();
      const container = join(HIERARCHY, CGROUP_PARENT, one.id);
      // Somebody else's, who has put nobody there yet: a container may be made in it.
      mkdirSync(container, { recursive: true });
      const { pid } = await one.launch(script("exec sleep 1000"));
      const stop = new AbortController();
      const request = {
        cmd: "sh",
        args: ["-c", "echo up; sleep 71 & sleep 72; true"],
        ...(way === "deadline" ? { deadlineMs: 1_500 } : { signal: stop.signal }),
      };
      const handle = way === "kill" ? await one.spawn(request) : undefined;
      const ended = handle === undefined ? one.exec(request).catch((error: Error) => error) : handle.wait();
      const sub = () => readdirSync(container).find((name) => name.startsWith("exec-")) ?? "absent";
      const members = () => (existsSync(join(container, sub())) ? numbers(join(container, sub(), "cgroup.procs")) : []);
      await until(() => members().length === 3);
      const own = members();
      stranger ??= spawn("sleep", ["4343"], { stdio: "ignore" });
      writeFileSync(join(container, sub(), "cgroup.procs"), String(stranger.pid));
      expect(members()).toContain(stranger.pid);
      if (way === "abort") stop.abort();
      await handle?.kill();
      await ended;
      // On a busy host a process that was killed needs a moment to go.
      await until(() => own.every(isGone));
      expect([isGone(stranger.pid!), isGone(pid)]).toEqual([false, false]);
      // His cgroup stays, for he is in it.
      expect(members()).toEqual([stranger.pid]);
      writeFileSync(join(HIERARCHY, "cgroup.procs"), String(stranger.pid));
      await one.shutdown({ graceMs: 0 });
      expect(isGone(stranger.pid!)).toBe(false);
      // What was there before stays.
      for (const name of readdirSync(container)) if (name.startsWith("exec-")) rmdirSync(join(container, name));
      rmdirSync(container);
    }
    rmdirSync(join(HIERARCHY, CGROUP_PARENT));
  });
});

function numbers(path: string): number[] {
  return readFileSync(path, "utf8").split("\n").filter(Boolean).map(Number);
}
