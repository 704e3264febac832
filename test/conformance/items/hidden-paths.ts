import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "../assert.ts";
import type { Change, Context } from "../context.ts";
import { group } from "../group.ts";
import { parseMountinfo } from "../observe.ts";

const linux =
  (fields: object): Change =>
  (config) =>
    Object.assign(config.linux, fields);

/** The tags of / in the container. */
async function rootTags(c: Context, rootfsPropagation: string | undefined): Promise<readonly string[]> {
  const container = await c.create(linux({ rootfsPropagation }));
  const { tags } = await container.mount("/");
  await container.delete("--force");
  return tags;
}

/** A root file system on a shared mount of the host, below which the host mounts something after create. */
async function seenBelow(c: Context, rootfsPropagation: string | undefined): Promise<{ inside: boolean; outside: boolean }> {
  const rootfs = c.rootfs();
  execFileSync("mount", ["--bind", rootfs, rootfs]);
  c.cleanup(() => void execFileSync("umount", ["-R", "-l", rootfs]));
  execFileSync("mount", ["--make-shared", rootfs]);
  for (const name of ["host", "own"]) mkdirSync(join(rootfs, name));
  const container = await c.start((config) => {
    config.root.path = rootfs;
    config.root.readonly = false;
    linux({ rootfsPropagation })(config);
  });
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", join(rootfs, "host")]);
  const pid = await container.pid();
  const inside = parseMountinfo(await container.proc("mountinfo")).some(({ target }) => target === "/host");
  execFileSync("nsenter", ["-t", String(pid), "-m", "-r", "/bin/mount", "-t", "tmpfs", "tmpfs", "/own"]);
  const outside = parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")).some(({ target }) => target === join(rootfs, "own"));
  await container.delete("--force");
  return { inside, outside };
}

export const hiddenPaths = group("RPP", "rootfsPropagation, maskedPaths, readonlyPaths, mountLabel", ({ must, should, may }) => {
  must(1, "rootfsPropagation is shared, slave, private or unbindable; other values are refused", async (c) => {
    for (const word of ["shared", "slave", "private", "unbindable"]) {
      const container = await c.create(linux({ rootfsPropagation: word }));
      assert.equal((await container.state()).status, "created", word);
      await container.delete("--force");
    }
    await c.refused(linux({ rootfsPropagation: "sharedd" }), "/linux/rootfsPropagation");
  });
  must(2, "shared: the root is in its own peer group, without the host", async (c) => {
    assert.ok((await rootTags(c, "shared")).some((tag) => tag.startsWith("shared:")));
    assert.equal((await seenBelow(c, "shared")).outside, false);
  });
  must(3, "slave: mounts of the host appear in the container, but not the reverse", async (c) => {
    assert.deepEqual(await seenBelow(c, "slave"), { inside: true, outside: false });
  });
  must(4, "private: mounts do not propagate in either direction", async (c) => {
    assert.deepEqual(await seenBelow(c, "private"), { inside: false, outside: false });
    assert.deepEqual(await rootTags(c, "private"), []);
  });
  must(5, "unbindable: the root cannot be bound", async (c) => {
    assert.deepEqual(await rootTags(c, "unbindable"), ["unbindable"]);
  });
  should(6, "without it no mount of the container appears on the host", async (c) => {
    assert.equal((await seenBelow(c, undefined)).outside, false);
  });
  must(7, "masked paths show no content: files are empty, directories are empty and read-only", async (c) => {
    const rootfs = c.rootfs();
    mkdirSync(join(rootfs, "secrets"));
    mkdirSync(join(rootfs, "more"));
    for (const name of ["secrets/one", "more/two", "file"]) writeFileSync(join(rootfs, name), "secret");
    const output = await c.output("cat /file; ls -A /secrets /more; touch /secrets/new 2>&1; touch /more/new 2>&1; echo end", (config) => {
      config.root.path = rootfs;
      config.root.readonly = false;
      linux({ maskedPaths: ["/file", "/secrets", "/more"] })(config);
    });
    assert.doesNotMatch(output, /secret\b|one|two/);
    assert.equal(output.match(/Read-only file system/g)?.length, 2);
    assert.match(output, /end/);
    // The others take the container's own null device for it.
    if (!c.isRunt) return;
    const source = c.scratch("dev");
    const empty = await c.output("cat /file; ls -A /dev", (config) => {
      config.root.path = rootfs;
      config.mounts = config.mounts.filter(({ destination }) => !destination.startsWith("/dev"));
      config.mounts.push({ destination: "/dev", type: "bind", source, options: ["rbind"] });
      linux({ maskedPaths: ["/file"] })(config);
    });
    assert.equal(empty, "");
  });
  must(8, "a masked path is absolute; a relative one is refused, or starts at the container's root", async (c) => {
    const rootfs = c.rootfs();
    writeFileSync(join(rootfs, "file"), "secret");
    const output = await c.output("cat /file; echo end", (config) => {
      config.root.path = rootfs;
      linux({ maskedPaths: ["/proc/kcore", "file"] })(config);
    });
    assert.equal(output, "end\n");
    if (!c.isRunt) return;
    const plan = await c.call(["plan", "--bundle", c.bundle(linux({ maskedPaths: ["x"] }))]);
    assert.match(plan.stdout, /warning: .*"x" is not an absolute path/);
    await c.refused(linux({ maskedPaths: ["/proc/kcore", ""] }), "/linux/maskedPaths/1");
  });
  should(9, "missing paths are skipped, and links do not lead out of the root", async (c) => {
    const rootfs = c.rootfs();
    const outside = c.scratch();
    writeFileSync(join(outside, "file"), "of the host");
    symlinkSync(join(outside, "file"), join(rootfs, "link"));
    const container = await c.create((config) => {
      config.root.path = rootfs;
      linux({ maskedPaths: ["/absent/file", "/link"], readonlyPaths: ["/absent/directory"] })(config);
    });
    assert.equal((await container.state()).status, "created");
    assert.equal(readFileSync(join(outside, "file"), "utf8"), "of the host");
  });
  must(10, "read-only paths cannot be written to, and neither can the mounts below them", async (c) => {
    const rootfs = c.rootfs();
    mkdirSync(join(rootfs, "area/below"), { recursive: true });
    const command = "touch /area/new; touch /area/below/new; touch /tmp/new && echo free";
    const output = await c.output(`{ ${command}; } 2>&1`, (config) => {
      config.root.path = rootfs;
      config.root.readonly = false;
      config.mounts.push({ destination: "/area/below", type: "tmpfs", source: "tmpfs" });
      linux({ readonlyPaths: ["/area"] })(config);
    });
    assert.equal(output.match(/Read-only file system/g)?.length, 2, output);
    assert.match(output, /free/);
  });
  must(11, "a read-only path is absolute; a relative one is refused, or starts at the container's root", async (c) => {
    const output = await c.output("touch /mnt/new 2>&1; echo end", (config) => {
      config.mounts.push({ destination: "/mnt", type: "tmpfs", source: "tmpfs" });
      linux({ readonlyPaths: ["mnt"] })(config);
    });
    assert.match(output, /Read-only file system[\s\S]*end/);
  });
  may(13, "a path that is masked twice is masked once, also in another spelling", async (c) => {
    const rootfs = c.rootfs();
    mkdirSync(join(rootfs, "secrets"));
    writeFileSync(join(rootfs, "file"), "secret");
    const container = await c.create((config) => {
      config.root.path = rootfs;
      linux({ maskedPaths: ["/file", "/file", "//file", "/secrets", "/secrets/", "/./secrets"] })(config);
    });
    const targets = (await container.mounts()).map(({ target }) => target);
    for (const target of ["/file", "/secrets"]) assert.equal(targets.filter((one) => one === target).length, 1, target);
  });
  should(12, "maskedPaths and readonlyPaths need the container's own mount namespace", async (c) => {
    for (const field of ["maskedPaths", "readonlyPaths"]) {
      await c.refused(
        (config) => {
          config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "mount");
          linux({ maskedPaths: [], readonlyPaths: [], [field]: ["/proc/kcore"] })(config);
        },
        `/linux/${field}`,
        ["unshare", "--mount"],
      );
    }
  });
});
