import { execFileSync } from "node:child_process";
import { lstatSync, readlinkSync, type Stats, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "../assert.ts";
import type { Context } from "../context.ts";
import { group } from "../group.ts";

interface Node {
  readonly path: string;
  readonly type: string;
  readonly major?: number;
  readonly minor?: number;
  readonly fileMode?: number;
  readonly uid?: number;
  readonly gid?: number;
}

const USER = {
  uidMappings: [{ containerID: 0, hostID: 10_000, size: 1000 }],
  gidMappings: [{ containerID: 0, hostID: 10_000, size: 1000 }],
};

const major = (rdev: number) => (rdev >> 8) & 0xfff;
const minor = (rdev: number) => (rdev & 0xff) | ((rdev >> 12) & 0xfff00);

/** Results of lstat for these paths in a container with these devices. */
async function made(c: Context, devices: readonly Node[], paths = devices.map(({ path }) => path), user = false): Promise<Stats[]> {
  const rootfs = c.rootfs();
  const container = await c.create((config) => {
    config.root.path = rootfs;
    Object.assign(config.linux, { devices });
    if (!user) return;
    config.linux.namespaces.push({ type: "user" });
    Object.assign(config.linux, USER);
  });
  const found: Stats[] = [];
  for (const path of paths) found.push(lstatSync(await container.path(path)));
  await container.delete("--force");
  return found;
}

const isNode = (stat: Stats | undefined, kind: "c" | "b", numbers: readonly [number, number]) =>
  stat !== undefined &&
  (kind === "c" ? stat.isCharacterDevice() : stat.isBlockDevice()) &&
  major(stat.rdev) === numbers[0] &&
  minor(stat.rdev) === numbers[1];

const DEFAULTS: readonly (readonly [string, number, number])[] = [
  ["null", 1, 3],
  ["zero", 1, 5],
  ["full", 1, 7],
  ["random", 1, 8],
  ["urandom", 1, 9],
  ["tty", 5, 0],
];

export const devices = group("DEV", "devices", ({ must, should }) => {
  must(1, "listed devices exist", async (c) => {
    const [fuse, disk] = await made(c, [
      { path: "/dev/fuse", type: "c", major: 10, minor: 229 },
      { path: "/dev/wide", type: "b", major: 259, minor: 300 },
    ]);
    assert.ok(isNode(fuse, "c", [10, 229]));
    assert.ok(isNode(disk, "b", [259, 300]));
  });
  must(2, "the types are c, b, u and p, u being c; others are refused", async (c) => {
    const [character, block, unbuffered, fifo] = await made(c, [
      { path: "/dev/c", type: "c", major: 240, minor: 1 },
      { path: "/dev/b", type: "b", major: 240, minor: 2 },
      { path: "/dev/u", type: "u", major: 240, minor: 3 },
      { path: "/dev/p", type: "p" },
    ]);
    assert.ok(isNode(character, "c", [240, 1]) && isNode(block, "b", [240, 2]) && isNode(unbuffered, "c", [240, 3]) && fifo?.isFIFO());
    await c.refused(
      (config) => Object.assign(config.linux, { devices: [{ path: "/dev/x", type: "x", major: 1, minor: 1 }] }),
      /^\/linux\/devices\/0/,
    );
  });
  must(3, "a device may be anywhere in the root; missing directories above it are made", async (c) => {
    const [deep] = await made(c, [{ path: "/opt/dev/deep/x", type: "c", major: 240, minor: 5 }]);
    assert.ok(isNode(deep, "c", [240, 5]));
  });
  must(4, "another object at the path is refused", async (c) => {
    const rootfs = c.rootfs();
    writeFileSync(join(rootfs, "node"), "a file");
    await c.refused((config) => {
      config.root.path = rootfs;
      Object.assign(config.linux, { devices: [{ path: "/node", type: "c", major: 240, minor: 1 }] });
    }, /^\/linux\/devices\/0/);
    assert.ok(statSync(join(rootfs, "node")).isFile());
  });
  must(5, "the numbers are required, except for p", async (c) => {
    for (const node of [{ major: 1 }, { minor: 1 }, {}]) {
      await c.refused(
        (config) => Object.assign(config.linux, { devices: [{ path: "/dev/x", type: "c", ...node }] }),
        /^\/linux\/devices\/0/,
      );
    }
  });
  should(6, "the numbers of a p are ignored", async (c) => {
    const [fifo] = await made(c, [{ path: "/dev/pipe", type: "p", major: 5, minor: 6 }]);
    assert.ok(fifo?.isFIFO());
  });
  must(7, "fileMode is applied whatever the umask; it is 0666 by default", async (c) => {
    const numbers = { type: "c", major: 240, minor: 9 };
    const [all, default_, special] = await made(c, [
      { path: "/dev/all", ...numbers, fileMode: 0o777 },
      { path: "/dev/default", ...numbers },
      { path: "/dev/special", ...numbers, fileMode: 0o4710 },
    ]);
    assert.deepEqual(
      [all, default_, special].map((stat) => (stat?.mode ?? 0) & 0o7777),
      [0o777, 0o666, 0o4710],
    );
  });
  must(8, "uid and gid are ids of the container", async (c) => {
    const node = { path: "/dev/owned", type: "p", uid: 12, gid: 34 };
    const [plain] = await made(c, [node]);
    assert.deepEqual([plain?.uid, plain?.gid], [12, 34]);
    const [mapped] = await made(c, [node], undefined, true);
    assert.deepEqual([mapped?.uid, mapped?.gid], [10_012, 10_034]);
    // The others bind a node of the host there, and there is none.
    if (!c.isRunt) return;
    const [character] = await made(c, [{ ...node, type: "c", major: 240, minor: 1, fileMode: 0o640 }], undefined, true);
    assert.ok(isNode(character, "c", [240, 1]));
    assert.deepEqual([character?.uid, character?.gid, (character?.mode ?? 0) & 0o777], [10_012, 10_034, 0o640]);
  });
  should(9, "the same numbers twice are warned about", async (c) => {
    const twice = ["/dev/one", "/dev/two"].map((path) => ({ path, type: "c", major: 240, minor: 1 }));
    assert.equal((await made(c, twice)).length, 2);
    if (!c.isRunt) return;
    const plan = await c.call(["plan", "--bundle", c.bundle((config) => Object.assign(config.linux, { devices: twice }))]);
    assert.match(plan.stdout, /warning: .*\/dev\/two/);
  });
  must(10, "null, zero, full, random, urandom and tty always exist, for all users", async (c) => {
    const found = await made(
      c,
      [],
      DEFAULTS.map(([name]) => `/dev/${name}`),
    );
    DEFAULTS.forEach(([name, ...numbers], index) => {
      assert.ok(isNode(found[index], "c", numbers), name);
      assert.equal((found[index]?.mode ?? 0) & 0o777, 0o666, name);
    });
  });
  must(11, "with a terminal /dev/console is its pty", async (c) => {
    const script = 'exec script -qec "$*" /dev/null';
    const bundle = c.bundle((config) => {
      config.process.terminal = true;
      config.process.args = ["/bin/sh", "-c", "tty; stat -c %t:%T /dev/console /dev/pts/0"];
    });
    const { id } = c.container(bundle);
    const { stdout } = await c.shell(script, ["run", "--bundle", bundle, id]);
    const [tty, console, pts] = stdout
      .replaceAll(/\0|\^@/g, "")
      .trim()
      .split(/\r?\n/);
    assert.equal(tty, "/dev/pts/0", stdout);
    assert.equal(console, pts);
    assert.equal(console, "88:0");
  });
  must(12, "/dev/ptmx leads to the container's own devpts", async (c) => {
    const rootfs = c.rootfs();
    const container = await c.create((config) => {
      config.root.path = rootfs;
    });
    const path = await container.path("/dev/ptmx");
    if (lstatSync(path).isSymbolicLink()) assert.match(readlinkSync(path), /^(\/dev\/)?pts\/ptmx$/);
    else assert.ok((await container.mounts()).some(({ target }) => target === "/dev/ptmx"));
  });
  should(13, "a /dev of the host does not change", async (c) => {
    const source = c.scratch("dev");
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", source]);
    c.cleanup(() => void execFileSync("umount", ["-l", source]));
    execFileSync("mknod", ["-m", "666", join(source, "null"), "c", "1", "3"]);
    const listed = await c.output("ls -A /dev", (config) => {
      config.mounts = config.mounts.filter(({ destination }) => !destination.startsWith("/dev"));
      config.mounts.push({ destination: "/dev", type: "bind", source, options: ["rbind"] });
    });
    assert.equal(listed, "null\n");
  });
  should(14, "in a user namespace, where nodes cannot be made, those of the host are bound", async (c) => {
    const [first] = await made(c, [], ["/dev/null"], true);
    assert.ok(isNode(first, "c", [1, 3]));
    const output = await c.output("echo gone > /dev/null && head -c 2 /dev/zero | wc -c", (config) => {
      config.linux.namespaces.push({ type: "user" });
      Object.assign(config.linux, USER);
    });
    assert.match(output, /2/);
  });
});
