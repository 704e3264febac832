import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as assert from "../assert.ts";
import { waitFor } from "../container.ts";
import { group } from "../group.ts";
import { stringsOf } from "../observe.ts";

/** One line for everything in a directory: name, type and mode, owner, time of the last change, content. */
function listing(directory: string, below = ""): string[] {
  return readdirSync(join(directory, below), { withFileTypes: true }).flatMap((entry) => {
    const name = join(below, entry.name);
    const path = join(directory, name);
    const { mode, uid, gid, mtimeMs } = lstatSync(path);
    const content = entry.isFile()
      ? createHash("sha1").update(readFileSync(path)).digest("hex")
      : entry.isSymbolicLink()
        ? readlinkSync(path)
        : "";
    const line = `${name} ${mode.toString(8)} ${uid}:${gid} ${mtimeMs} ${content}`;
    return [line, ...(entry.isDirectory() ? listing(directory, name) : [])];
  });
}

/** Makes an invalid JSON document of a valid one. */
const MALFORMED: readonly ((good: string) => string | Buffer)[] = [
  () => "",
  (good) => good.slice(0, -2),
  (good) => `${good} {}`,
  (good) => good.replace("{", "{ // comment\n"),
  (good) => good.replaceAll('"', "'"),
  (good) => good.replace(/}$/, ",}"),
  (good) => good.replace("{", '{"annotations": {"name": "a\nb"},'),
  (good) => good.replace("{", '{"hostname": NaN,'),
  (good) => Buffer.from(good, "utf16le"),
  (good) =>
    Buffer.concat([Buffer.from('{"annotations": {"name": "'), Buffer.from([0xc3, 0x28]), Buffer.from('"},'), Buffer.from(good.slice(1))]),
];

/** JSON, but no configuration. */
const OTHER_ROOTS = ["[]", "null", '"text"'];

export const bundle = group("BUN", "Bundle", ({ must, should }) => {
  must(1, "the configuration is config.json in the bundle itself; if it is missing, the error says so", async (c) => {
    const path = c.bundle();
    mkdirSync(join(path, "below"));
    renameSync(join(path, "config.json"), join(path, "below/config.json"));
    const { stderr } = await c.refusedBundle(path);
    assert.match(stderr, /config\.json/);
    renameSync(join(path, "below/config.json"), join(path, "config.json"));
    const container = c.container(path);
    await container.ok(["create", "--bundle", path, container.id]);
  });
  must(2, "a relative bundle path is made absolute, and state shows the absolute one", async (c) => {
    const path = c.bundle();
    const named = c.container(path);
    await named.ok(["create", "--bundle", basename(path), named.id], { cwd: dirname(path) });
    assert.equal((await named.state()).bundle, path);
    const current = c.bundle();
    const unnamed = c.container(current);
    await unnamed.ok(["create", unnamed.id], { cwd: current });
    assert.equal((await unnamed.state()).bundle, current);
  });
  must(3, "create needs both the configuration and its root filesystem", async (c) => {
    const rootfs = c.rootfs();
    const path = c.bundle((config) => {
      config.root.path = rootfs;
    });
    renameSync(join(path, "config.json"), join(path, "aside"));
    await c.refusedBundle(path);
    renameSync(join(path, "aside"), join(path, "config.json"));
    renameSync(rootfs, `${rootfs}-aside`);
    await c.refusedBundle(path, "/root/path");
    renameSync(`${rootfs}-aside`, rootfs);
    const container = c.container(path);
    await container.ok(["create", "--bundle", path, container.id]);
  });
  must(4, "a config.json that changes after create does not reach the container", async (c) => {
    const container = await c.create((config) => {
      config.process.args = ["/bin/sleep", "61"];
    });
    const pid = await container.pid();
    const file = join(container.bundle, "config.json");
    writeFileSync(file, readFileSync(file, "utf8").replace('"61"', '"62"').replace('"hello"', '"changed"'));
    await container.start();
    await waitFor(() => stringsOf(pid, "cmdline")[0] === "/bin/sleep", "the program");
    assert.deepEqual(stringsOf(pid, "cmdline"), ["/bin/sleep", "61"]);
    assert.equal((await container.exec("hostname")).trim(), "hello");
    rmSync(file);
    await container.end();
    await container.delete();
    await c.nothingOf(container);
  });
  should(5, "config.json is strict JSON in UTF-8 with one object in it; anything else is refused", async (c) => {
    const path = c.bundle();
    const file = join(path, "config.json");
    const good = readFileSync(file, "utf8");
    for (const text of [...MALFORMED.map((make) => make(good)), ...OTHER_ROOTS]) {
      writeFileSync(file, text);
      const { stderr } = await c.refusedBundle(path);
      if (c.isRunt) assert.match(stderr, /config/);
    }
    for (const field of ["process", "mounts"]) {
      writeFileSync(file, JSON.stringify({ ...JSON.parse(good), [field]: 1 }));
      await c.refusedBundle(path, `/${field}`);
    }
    writeFileSync(file, good.replace('"ociVersion"', "\n  ociVersion"));
    if (c.isRunt) assert.match((await c.refusedBundle(path)).stderr, /config\.json:3:3:/);
  });
  must(6, "the bundle does not change, except for mount points in the root filesystem", async (c) => {
    const bundleWith = (program: string) => {
      const path = c.bundle((config) => {
        config.root = { path: "rootfs", readonly: false };
        config.mounts.push({ destination: "/made/point", type: "tmpfs", source: "tmpfs" });
        config.process.args = [program, "60"];
      });
      renameSync(c.rootfs(), join(path, "rootfs"));
      return { path, before: listing(path) };
    };
    const compare = ({ path, before }: { path: string; before: string[] }) => {
      const after = listing(path).filter((line) => !/^rootfs\/made(\/point)? /.test(line));
      // A new entry changes the time of the directory it is in.
      const timeless = (lines: string[]) => lines.map((line) => (line.startsWith("rootfs ") ? "rootfs" : line));
      assert.deepEqual(timeless(after), timeless(before));
    };
    const good = bundleWith("/bin/sleep");
    const container = c.container(good.path);
    await container.ok(["create", "--bundle", good.path, container.id]);
    await container.start();
    await container.end();
    await container.delete();
    compare(good);
    const bad = bundleWith("/no/such/program");
    await c.refusedBundle(bad.path);
    compare(bad);
  });
});
