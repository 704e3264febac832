/** A copy of a state directory: its executors are those of the original, and are left alone. */
import { execFileSync } from "node:child_process";
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Executor } from "../../src/executor/index.ts";
import { CGROUP_PARENT, isGone, isRoot, statusOf, useExecutors } from "./support.ts";

describe.skipIf(!isRoot)("executor: a copy of its directory (needs root)", () => {
  const { directory, executor, script, stateDir } = useExecutors();

  test("is listed as moved, and neither adopted nor discarded; the program runs on", async () => {
    const one = executor();
    const { id } = one;
    const { pid } = await one.launch(script("exec sleep 1000"));
    const copy = join(directory, "copy");
    execFileSync("cp", ["-a", stateDir, copy]);
    const cgroup = { parent: CGROUP_PARENT, isUnique: true };
    expect((await Executor.list(copy)).find((entry) => entry.id === id)).toMatchObject({
      state: "unknown",
      error: { code: "state-moved" },
    });
    await expect(Executor.adopt({ stateDir: copy, id })).rejects.toMatchObject({ code: "state-moved" });
    await expect(Executor.discard({ stateDir: copy, id, cgroup })).rejects.toMatchObject({ code: "state-moved" });
    expect(existsSync(join(copy, id))).toBe(true);
    expect([isGone(pid), statusOf(stateDir, id).pid]).toEqual([false, pid]);
    // Whoever says that the original is gone may end it.
    await Executor.discard({ stateDir: copy, id, cgroup, moved: true });
    expect([isGone(pid), existsSync(join(copy, id))]).toEqual([true, false]);
  });

  test("moved with its inode it is the same directory", async () => {
    const states = join(directory, "first");
    const one = executor({ stateDir: states, id: "one" });
    const { pid } = await one.launch(script("exec sleep 1000"));
    renameSync(states, join(directory, "second"));
    const found = await Executor.adopt({ stateDir: join(directory, "second"), id: "one" });
    expect(found.process?.pid).toBe(pid);
    await found.shutdown({ graceMs: 0 });
    expect(isGone(pid)).toBe(true);
  });
});
