import { symlinkSync } from "node:fs";
import { join } from "node:path";
import * as assert from "../assert.ts";
import type { Levels } from "../group.ts";

/** Behaviour in the life of a container that the specification leaves open, and that engines and public test suites count on. */
export function customs({ should }: Levels): void {
  should(23, "a terminating signal stops a container that is created but not started", async (c) => {
    for (const signal of ["TERM", "INT", "HUP", "QUIT"]) {
      const container = await c.create();
      await container.kill(signal);
      await container.until("stopped");
      assert.notEqual((await c.call(["start", container.id])).status, 0, signal);
      await container.delete();
    }
  });
  should(24, "a NOTIFY_SOCKET without a listener does not prevent the start", async (c) => {
    const env = { NOTIFY_SOCKET: join(c.scratch("notify"), "gone") };
    assert.equal(await c.output("echo runs", undefined, { env }), "runs\n");
    const container = await c.create(undefined, { env });
    await container.start({ env });
    await container.until("running");
    const detached = c.container(c.bundle());
    await detached.ok(["run", "--detach", "--bundle", detached.bundle, detached.id], { env });
    await detached.until("running");
  });
  should(25, "the bundle path in state has no symbolic links", async (c) => {
    const bundle = c.bundle();
    const link = join(c.scratch("links"), "bundle");
    symlinkSync(bundle, link);
    for (const [path, cwd] of [
      [link, c.directory],
      ["bundle", join(link, "..")],
    ] as const) {
      const container = c.container(bundle);
      await container.ok(["create", "--bundle", path, container.id], { cwd });
      assert.equal((await container.state()).bundle, bundle);
      await container.delete("--force");
    }
  });
}
