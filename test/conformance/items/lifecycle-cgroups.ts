/** LIF, what is about the container's cgroups: runc's command line, which engines count on. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "../assert.ts";
import { isUnified } from "../cgroups.ts";
import type { Levels } from "../group.ts";
import { update } from "./resources.ts";

export const cgroupItems = ({ should }: Levels): void => {
  should(26, "nothing is executed in a paused container, and an update leaves it paused", async (c) => {
    const container = await c.start();
    await container.ok(["pause", container.id]);
    assert.notEqual((await c.call(["exec", container.id, "/bin/true"])).status, 0, "exec in a paused container");
    await update(container, { pids: { limit: 50 } });
    assert.equal((await container.state()).status, "paused");
    await container.ok(["resume", container.id]);
    assert.equal(await container.exec("echo awake"), "awake\n");
    await container.delete("--force");
  });
  should(27, "delete --force also ends processes in cgroups below the container's own, and removes these cgroups", async (c) => {
    const container = await c.start();
    const pidFile = join(c.directory, "below");
    for (const controller of isUnified() ? ["pids"] : ["pids", "memory", "freezer"]) {
      await container.ok(["exec", "--detach", "--pid-file", pidFile, container.id, "/bin/sleep", "60"]);
      const below = join(await container.cgroup(controller), "below");
      mkdirSync(below);
      writeFileSync(join(below, "cgroup.procs"), readFileSync(pidFile, "utf8"));
    }
    await container.delete("--force");
    await c.nothingOf(container);
  });
};
