import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../support/config.ts";
import * as assert from "../assert.ts";
import type { Levels } from "../group.ts";

/** Shows the environment as it is; a shell would show one of two. */
const SHOW = ["/probe"];

const homes = (output: string) => output.match(/^env HOME=.*$/gm);

/** HOME, of which the specification says nothing and images expect much. */
export function home({ should }: Levels): void {
  should(22, "an empty HOME is replaced by the user's own", async (c) => {
    const change = (config: Config) => {
      config.process.env = ["PATH=/bin:/usr/bin", "HOME="];
      config.process.args = [...SHOW];
    };
    assert.deepEqual(homes((await c.run(SHOW, change)).stdout), ["env HOME=/root"]);
  });
  should(23, "HOME is found where /etc/passwd is a link, inside the root, for the first program and for exec", async (c) => {
    for (const target of ["/usr/share/passwd", "../usr/share/passwd", "passwd.real"]) {
      const rootfs = c.rootfs();
      const real = target.includes("share") ? join(rootfs, "usr/share/passwd") : join(rootfs, "etc/passwd.real");
      mkdirSync(join(real, ".."), { recursive: true });
      writeFileSync(real, "root:x:0:0::/found:/bin/sh\n");
      rmSync(join(rootfs, "etc/passwd"), { force: true });
      symlinkSync(target, join(rootfs, "etc/passwd"));
      const change = (config: Config) => {
        config.root.path = rootfs;
        config.process.env = ["PATH=/bin:/usr/bin"];
      };
      assert.deepEqual(homes((await c.run(SHOW, change)).stdout), ["env HOME=/found"]);
      const container = await c.start(change);
      assert.deepEqual(homes((await c.call(["exec", container.id, ...SHOW])).stdout), ["env HOME=/found"]);
    }
  });
}
