import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "../assert.ts";
import { group } from "../group.ts";

export const root = group("ROO", "root", ({ must, should }) => {
  must(1, "a configuration without root is refused", async (c) => {
    await c.refused((config) => Reflect.deleteProperty(config, "root"), "/root");
  });
  must(2, "root.path is required, and a relative one starts at the bundle", async (c) => {
    await c.refused((config) => Reflect.deleteProperty(config.root, "path"), "/root/path");
    const path = c.bundle((config) => {
      config.root = { path: "files" };
    });
    renameSync(c.rootfs(), join(path, "files"));
    writeFileSync(join(path, "files/marker"), "of the bundle");
    // A directory of the same name where the caller is.
    const cwd = c.scratch("caller");
    mkdirSync(join(cwd, "files"));
    const container = c.container(path);
    await container.ok(["create", "--bundle", path, container.id], { cwd });
    assert.ok(existsSync(await container.path("/marker")));
  });
  must(3, "an absolute root.path may lie outside of the bundle", async (c) => {
    const rootfs = c.rootfs();
    writeFileSync(join(rootfs, "marker"), "");
    for (const flags of [[], ["--no-pivot"]]) {
      const container = await c.create(
        (config) => {
          config.root.path = rootfs;
        },
        { flags },
      );
      assert.ok(existsSync(await container.path("/marker")), flags.join());
    }
  });
  must(4, "root.path must be a directory that exists", async (c) => {
    const file = join(c.scratch(), "file");
    writeFileSync(file, "");
    for (const path of [file, `${file}-missing`, ""])
      await c.refused((config) => {
        config.root.path = path;
      }, "/root/path");
  });
  must(5, "with readonly the root mount is read-only", async (c) => {
    const rootfs = c.rootfs();
    const change = (config: { root: object }) => {
      config.root = { path: rootfs, readonly: true };
    };
    const container = await c.start(change);
    assert.ok((await container.mount("/")).options.includes("ro"));
    const { status, stderr } = await c.run("touch /made", change);
    assert.notEqual(status, 0);
    assert.match(stderr, /Read-only file system/);
    assert.ok(!existsSync(join(rootfs, "made")));
  });
  must(6, "without readonly the root is writable", async (c) => {
    const rootfs = c.rootfs();
    for (const [index, readonly] of [{}, { readonly: false }].entries()) {
      const container = await c.start((config) => {
        config.root = { path: rootfs, ...readonly };
        config.process.args = ["/bin/sh", "-c", `touch /made-${index}; sleep 60`];
      });
      assert.ok((await container.mount("/")).options.includes("rw"));
      await container.exec(`touch /made-by-exec-${index}`);
      assert.ok(existsSync(join(rootfs, `made-by-exec-${index}`)));
    }
  });
  should(7, "a read-only root leaves the mounts on it writable", async (c) => {
    const shared = c.scratch();
    await c.output("touch /tmp/made /mnt/made", (config) => {
      config.root.readonly = true;
      config.mounts.push(
        { destination: "/tmp", type: "tmpfs", source: "tmpfs" },
        { destination: "/mnt", type: "bind", source: shared, options: ["bind"] },
      );
    });
    assert.ok(existsSync(join(shared, "made")));
  });
});
