import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statfsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "../assert.ts";
import type { Change, Context } from "../context.ts";
import { group } from "../group.ts";

const MAPPING = [{ containerID: 0, hostID: 1000, size: 100 }];

/** A directory of the host with one file "name" of this content. */
function directoryWith(c: Context, content: string, parent = c.scratch()): string {
  writeFileSync(join(parent, "name"), content);
  return parent;
}

const bind = (destination: string, source: string, options: readonly string[] = ["bind"], type = "none") => ({
  destination,
  type,
  source,
  options: [...options],
});

/** What ordinary users may mount is not trusted (mount(8)). */
const OF_USERS: Readonly<Record<string, readonly string[]>> = {
  user: ["nosuid", "nodev", "noexec"],
  users: ["nosuid", "nodev", "noexec"],
  owner: ["nosuid", "nodev"],
  group: ["nosuid", "nodev"],
};

export const mounts = group("MNT", "mounts: order and structure", ({ must, should }) => {
  must(1, "entries are mounted in their order: the later one covers the earlier", async (c) => {
    const [first, second] = [directoryWith(c, "first"), directoryWith(c, "second")];
    const both = [bind("/mnt", first), bind("/mnt", second)];
    assert.equal(await c.output("cat /mnt/name", (config) => config.mounts.push(...both)), "second");
    assert.equal(await c.output("cat /mnt/name", (config) => config.mounts.push(...both.reverse())), "first");
  });
  must(2, "a configuration without mounts is valid", async (c) => {
    const container = await c.create((config) => {
      Object.assign(config, { mounts: undefined });
      Object.assign(config.linux, { maskedPaths: [], readonlyPaths: [] });
      config.root.path = c.rootfs();
      config.root.readonly = false;
    });
    assert.ok(!(await container.mounts()).some(({ fstype }) => fstype === "proc"));
  });
  must(3, "a relative destination starts at the root of the container, with a warning; a missing destination is refused", async (c) => {
    const source = directoryWith(c, "relative");
    const relative = bind("mnt", source);
    assert.equal(await c.output("cat /mnt/name", (config) => config.mounts.push(relative), { cwd: "/" }), "relative");
    if (!c.isRunt) return;
    const plan = await c.call(["plan", "--bundle", c.bundle((config) => config.mounts.push(relative))]);
    assert.match(plan.stdout, /warning: .*mnt/);
    await c.refused((config) => config.mounts.push({ type: "tmpfs" } as never), /^\/mounts\/6/);
  });
  must(4, "bind or rbind among the options makes a bind mount, whatever the type", async (c) => {
    const source = directoryWith(c, "bound");
    for (const option of ["bind", "rbind"]) {
      for (const type of ["none", "bind", "tmpfs", undefined]) {
        const mount = { destination: "/mnt", source, options: [option], ...(type !== undefined && { type }) };
        assert.equal(await c.output("cat /mnt/name", (config) => config.mounts.push(mount)), "bound", `${option}, type ${type}`);
      }
    }
  });
  must(5, "a relative source starts at the bundle", async (c) => {
    const bundle = c.bundle((config) => {
      config.process.args = ["/bin/cat", "/mnt/name"];
      config.mounts.push(bind("/mnt", "data"));
    });
    mkdirSync(join(bundle, "data"));
    directoryWith(c, "in the bundle", join(bundle, "data"));
    const { id } = c.container(bundle);
    assert.equal((await c.call(["run", "--bundle", bundle, id], { cwd: "/" })).stdout, "in the bundle");
  });
  must(6, "missing mount points are made in the root, and links never lead out of it", async (c) => {
    const outside = c.scratch("outside");
    const rootfs = c.rootfs();
    symlinkSync(outside, join(rootfs, "away"));
    symlinkSync(`../../../../../../../../..${outside}`, join(rootfs, "up"));
    const source = directoryWith(c, "inside");
    const file = join(source, "name");
    const container = await c.create((config) => {
      config.root.path = rootfs;
      config.mounts.push(bind("/new/deep/place", source), bind("/new/file", file));
    });
    const targets = (await container.mounts()).map(({ target }) => target);
    for (const target of ["/new/deep/place", "/new/file"]) assert.ok(targets.includes(target), target);
    for (const destination of ["/away/place", "/up/place"]) {
      const bundle = c.bundle((config) => {
        config.root.path = rootfs;
        config.mounts.push(bind(destination, source));
      });
      const { status } = await c.call(["create", "--bundle", bundle, c.container(bundle).id]);
      assert.deepEqual(readdirSync(outside), [], destination);
      if (c.isRunt)
        assert.ok(status === 0 && existsSync(join(rootfs, outside.slice(1), "place")), `${destination} was not resolved in the root`);
    }
  });
  must(7, "the kernel gets the type; a file system that it does not know is refused", async (c) => {
    const mount = (type: string) => ({ destination: "/mnt", type, source: type });
    const container = await c.create((config) => config.mounts.push(mount("ramfs")));
    assert.equal((await container.mount("/mnt")).fstype, "ramfs");
    await container.delete("--force");
    await c.refused((config) => config.mounts.push(mount("nosuchfs")), "/mounts/6");
  });
  must(8, "uidMappings and gidMappings of a mount must be used together", async (c) => {
    const source = c.scratch();
    for (const field of ["uidMappings", "gidMappings"]) {
      await c.refused(
        (config) => config.mounts.push({ ...bind("/mnt", source, ["bind", "idmap"]), [field]: MAPPING } as never),
        /^\/mounts\/6/,
      );
    }
  });
  must(9, "the mappings of a mount are applied unchanged", async (c) => {
    const source = c.scratch();
    for (const id of [0, 9, 10, 300]) {
      writeFileSync(join(source, String(id)), "");
      chownSync(join(source, String(id)), id, id);
    }
    const mappings = {
      uidMappings: [
        { containerID: 0, hostID: 2000, size: 10 },
        { containerID: 300, hostID: 3000, size: 1 },
      ],
      gidMappings: [{ containerID: 0, hostID: 4000, size: 1000 }],
    };
    const output = await c.output("stat -c %u:%g /mnt/0 /mnt/9 /mnt/10 /mnt/300", (config) =>
      config.mounts.push({ ...bind("/mnt", source, ["bind", "idmap"]), ...mappings }),
    );
    assert.equal(output, "2000:4000\n2009:4009\n65534:4010\n3000:4300\n");
  });
  should(10, "mappings without the option are applied too", async (c) => {
    const source = directoryWith(c, "");
    const change = (config: { mounts: object[] }) =>
      config.mounts.push({ ...bind("/mnt", source), uidMappings: MAPPING, gidMappings: MAPPING });
    assert.equal(await c.output("stat -c %u:%g /mnt/name", change), "1000:1000\n");
    if (c.isRunt) assert.match((await c.call(["plan", "--bundle", c.bundle(change)])).stdout, /warning: .*idmap/);
  });
  should(11, "options that are not in the table reach the file system", async (c) => {
    const container = await c.create((config) =>
      config.mounts.push({ destination: "/mnt", type: "tmpfs", source: "tmpfs", options: ["size=64k", "mode=700"] }),
    );
    const { superOptions } = await container.mount("/mnt");
    assert.ok(superOptions.includes("size=64k") && superOptions.includes("mode=700"), superOptions.join(","));
  });
  should(12, "options that only mount(8) uses are not passed on", async (c) => {
    for (const word of ["noauto", "nofail", "_netdev", "x-systemd.automount"]) {
      const container = await c.create((config) =>
        config.mounts.push({ destination: "/mnt", type: "tmpfs", source: "tmpfs", options: [word] }),
      );
      assert.ok(!(await container.mount("/mnt")).superOptions.includes(word));
      await container.delete("--force");
    }
    for (const [word, flags] of Object.entries(OF_USERS)) {
      const container = await c.create((config) =>
        config.mounts.push({ destination: "/mnt", type: "tmpfs", source: "tmpfs", options: [word] }),
      );
      const { options, superOptions } = await container.mount("/mnt");
      assert.ok(!superOptions.includes(word));
      if (c.isRunt)
        assert.deepEqual(
          ["nosuid", "nodev", "noexec"].filter((flag) => options.includes(flag)),
          flags,
          word,
        );
      await container.delete("--force");
    }
  });
  should(13, "file system data on a bind mount is refused or warned about", async (c) => {
    const bundle = c.bundle((config) => config.mounts.push(bind("/mnt", c.scratch(), ["bind", "size=1k"])));
    const container = c.container(bundle);
    const { status, stderr } = await c.call(["--debug", "create", "--bundle", bundle, container.id]);
    const plan = c.isRunt ? (await c.call(["plan", "--bundle", bundle])).stdout : "";
    assert.ok(status !== 0 || /size=1k|data|option/.test(stderr) || /warning: .*size=1k/.test(plan), "silently ignored");
  });
  should(14, "the usual file systems exist at the places of a usual configuration", async (c) => {
    const container = await c.create();
    const types = new Map((await container.mounts()).map(({ target, fstype }) => [target, fstype]));
    const expected = {
      "/proc": "proc",
      "/sys": "sysfs",
      "/dev/pts": "devpts",
      "/dev/shm": "tmpfs",
      "/dev/mqueue": "mqueue",
      "/dev": "tmpfs",
    };
    for (const [target, type] of Object.entries(expected)) assert.equal(types.get(target), type, target);
    const PROC_SUPER_MAGIC = 0x9fa0;
    assert.equal(statfsSync(await container.path("/proc")).type, PROC_SUPER_MAGIC);
  });
  must(15, "if a mount fails, everything is undone", async (c) => {
    const rootfs = c.rootfs();
    await c.refused((config) => {
      config.root.path = rootfs;
      config.mounts.push(bind("/mnt", c.scratch()), { destination: "/tmp", type: "nosuchfs", source: "x" });
    }, "/mounts/7");
    assert.equal(execFileSync("findmnt", ["-rn", "-o", "TARGET"], { encoding: "utf8" }).includes(rootfs), false);
  });
  should(16, "only a procfs can be mounted on /proc, and only a few files below it", async (c) => {
    const source = c.scratch();
    for (const destination of ["/proc", "/proc/sys", "/proc/1", "/proc/self/attr", "/mnt/../proc/sys"]) {
      await c.refused((config) => config.mounts.push(bind(destination, source)), /^\/mounts\/6/);
    }
    const rootfs = c.rootfs();
    execFileSync("rmdir", [join(rootfs, "proc")]);
    mkdirSync(join(rootfs, "elsewhere"));
    symlinkSync("/elsewhere", join(rootfs, "proc"));
    await c.refused((config) => {
      config.root.path = rootfs;
    }, /^\/mounts\/0/);
    const loadavg = join(directoryWith(c, "0 0 0"), "name");
    const container = await c.create((config) => config.mounts.push(bind("/proc/loadavg", loadavg)));
    assert.equal(readFileSync(await container.path("/proc/loadavg"), "utf8"), "0 0 0");
  });
  should(17, "a tmpfs has the mode of the directory that it covers, or 1777 if the directory is new", async (c) => {
    const rootfs = c.rootfs();
    mkdirSync(join(rootfs, "room"), { mode: 0o710 });
    const output = await c.output("stat -c %a /room /new/room /own", (config) => {
      config.root = { path: rootfs, readonly: false };
      for (const [destination, ...options] of [["/room"], ["/new/room"], ["/own", "mode=1500"]])
        config.mounts.push({ destination: destination!, type: "tmpfs", source: "tmpfs", options });
    });
    assert.equal(output, "710\n1777\n1500\n");
  });
  should(18, "a source may be below an earlier mount, also in a user namespace and with mapped ids", async (c) => {
    const source = directoryWith(c, "below");
    mkdirSync(join(source, "sub"));
    writeFileSync(join(source, "sub/name"), "sub");
    chmodSync(source, 0o750);
    const map = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
    for (const user of [false, true]) {
      for (const ids of [{}, { uidMappings: map, gidMappings: map }]) {
        const rootfs = c.rootfs();
        for (const name of ["first", "second"]) mkdirSync(join(rootfs, name));
        execFileSync("chown", ["-hR", "100000:100000", rootfs]);
        const output = await c.output("cat /second/name", (config) => {
          config.root = { path: rootfs, readonly: false };
          if (user) {
            config.linux.namespaces.push({ type: "user" });
            Object.assign(config.linux, { uidMappings: map, gidMappings: map });
          }
          config.mounts.push(bind("/first", source), { ...bind("/second", join(rootfs, "first/sub")), ...ids });
        });
        assert.equal(output, "sub", `user namespace: ${user}, mapped ids: ${"uidMappings" in ids}`);
      }
    }
  });
  should(19, "a destination that is the host path of a place in the root means that place", async (c) => {
    const source = directoryWith(c, "seen");
    const rootfs = c.rootfs();
    mkdirSync(join(rootfs, "place"));
    const at =
      (destination: string): Change =>
      (config) => {
        config.root = { path: rootfs, readonly: false };
        config.mounts.push(bind(destination, source));
      };
    assert.equal(await c.output("cat /place/name", at(join(rootfs, "place"))), "seen");
    // It is no way around what is refused of a container's own paths.
    await c.refused(at(join(rootfs, "proc/sys")), /^\/mounts\/\d+\/destination$/);
  });
});
