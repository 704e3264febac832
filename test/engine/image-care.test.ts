/** What becomes of images that nobody uses, and the verbs that show, get and remove images. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { baseLayer, type TarFile, tar, writeLayout } from "./image-files.ts";
import { statusOf } from "./kernel-files.ts";
import { http, isRoot, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const HAS_PROGRAMS = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));
const NEVER = ["--image-gc-every", "0s"];

describe.skipIf(!isRoot || !HAS_PROGRAMS)("images that stay and go (needs root, skopeo and umoci)", () => {
  const scene = useEngine();
  let count = 0;
  const image = (...files: TarFile[]): string => {
    const directory = join(scene.directory, `layout-${++count}`);
    writeLayout(directory, {
      layers: [baseLayer(), tar([{ name: "text", content: `${count}` }, ...files])],
      config: { Cmd: ["/bin/sh", "-c", SLEEP] },
    });
    return `oci:${directory}:v1`;
  };
  const pull = async (reference: string) => {
    const { status, stdout, stderr } = await scene.ctl("pull", "-q", reference);
    expect(status, stderr).toBe(0);
    return stdout.trim();
  };
  const listed = async (): Promise<{ reference: string; digest: string; tasks: string[]; isKept: boolean; isUsed: boolean }[]> =>
    JSON.parse((await scene.ctl("images", "-o", "json")).stdout);
  const names = async () => (await listed()).map(({ reference }) => reference);
  const directory = (...parts: string[]) => join(scene.stateDir, "images", ...parts);
  const blobs = () => readdirSync(directory("layout/blobs/sha256"));
  const layers = () => readdirSync(directory("layers"));
  const run = async (reference: string, name = "t") => {
    const container = { name: "c0", image: reference, pullPolicy: "prefer-cached", stopSignal: "SIGKILL" };
    await http(scene.socket, "POST", "/v1/apply", { text: JSON.stringify({ name, retention: "0s", containers: [container] }) });
    await until(async () => /"known":"(RUNNING|STOPPED)"/.test((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text));
    expect(JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text)).toMatchObject({ known: "RUNNING", reason: null });
  };

  test("E46: prune removes the requested number of unused images, the oldest first; an image that is used or kept stays, with all its layers", async () => {
    const [first, second, third, used, kept] = [image(), image(), image(), image(), image()];
    await scene.daemon({ args: [...NEVER, "--image-gc-keep", kept] });
    for (const reference of [kept, second, used, first, third]) await pull(reference);
    await run(used);
    // What is got again is used again.
    await pull(second);
    const digest = await pull(third);
    expect((await listed()).find(({ reference }) => reference === used)).toMatchObject({
      isUsed: true,
      isKept: false,
      tasks: [expect.stringContaining(".t.")],
    });
    const before = { blobs: blobs().length, layers: layers().length };
    const pruned = await scene.ctl("images", "prune", "--most", "2");
    expect(pruned.stdout.split("\n").slice(0, 2)).toEqual([`${first} removed`, `${second} removed`]);
    expect(pruned.stdout).toMatch(/^[\d.]+(Ki)? freed$/m);
    expect(await names()).toEqual([third, used, kept].sort());
    // Of each a manifest, a configuration and a layer of its own; the base is of all.
    expect({ blobs: blobs().length, layers: layers().length }).toEqual({ blobs: before.blobs - 6, layers: before.layers - 2 });
    expect((await scene.ctl("images", "prune", "--unused", "1h")).stdout).toMatch(/^0 freed\n$/);
    await scene.ctl("images", "prune");
    expect(await names()).toEqual([used, kept].sort());
    const table = (await scene.ctl("images")).stdout;
    expect(table).toMatch(/IMAGE +DIGEST +SIZE +PULLED +USED BY/);
    expect(table).not.toContain(digest.slice(0, 19));
    // The container that runs has its files, and a further one is made of the same parts without a source.
    const pid = scene.list()[0]!.pid;
    expect(readFileSync(`/proc/${pid}/root/text`, "utf8")).toBe("4");
    expect(statusOf(pid)["State"]).toMatch(/^S/);
    await scene.ctl("restart", "t");
    await until(async () => /"generation":2.*"known":"RUNNING"/.test((await http(scene.socket, "GET", "/v1/tasks/t")).text));
    await scene.ctl("delete", "t");
    await scene.ctl("images", "prune");
    expect(await names()).toEqual([kept]);
  });

  test("E46: old images are removed automatically, including those of a container that is no longer in any store", async () => {
    const [unused, used] = [image(), image()];
    const daemon = await scene.daemon({ args: ["--image-gc-every", "200ms", "--image-gc-age", "500ms"] });
    await run(used);
    await pull(unused);
    await until(async () => !(await names()).includes(unused));
    expect(await names()).toEqual([used]);
    await until(() => daemon.log().includes("images-removed"));
    await scene.ctl("delete", "t");
    await until(async () => (await names()).length === 0);
    await until(() => blobs().length === 0 && layers().length === 0);
  });

  test("E46: with prefer-cached on the host no image is removed automatically", async () => {
    const reference = image();
    await scene.daemon({ args: ["--pull-policy", "prefer-cached", "--image-gc-every", "100ms", "--image-gc-age", "0s"] });
    await pull(reference);
    // Ten times as long as it would take.
    await new Promise((over) => setTimeout(over, 1000));
    expect(await names()).toEqual([reference]);
  });

  test("E46: above a share of the file system the oldest images are removed at any age", async () => {
    const large = () => image({ name: "large", content: randomBytes(6 << 20) });
    const [first, second, third] = [large(), large(), large()];
    // Each takes 12 MB of 40: packed, and unpacked.
    const before = `mkdir -p -m 700 ${scene.stateDir} && mkdir -m 700 ${directory()} && mount -t tmpfs -o size=40m tmpfs ${directory()}`;
    await scene.daemon({ before, args: ["--image-gc-every", "300ms", "--image-gc-age", "24h", "--image-gc-full", "70%"] });
    await pull(first);
    await pull(second);
    await pull(third);
    await until(async () => !(await names()).includes(first));
    expect(await names()).toEqual([second, third].sort());
  });

  test("E46: the layers of a refused image are removed", async () => {
    await scene.daemon({ args: NEVER });
    const bad = image({ name: "../../escape", content: "x" });
    const { status, stderr } = await scene.ctl("pull", bad);
    expect(status).toBe(1);
    expect(stderr).toContain("escape");
    // Files are deleted when others may use the store again.
    await until(() => blobs().length === 0 && readdirSync(directory("staging")).length === 0);
    expect(layers()).toEqual([]);
  });

  test("pull says what it has got, and what is no image", async () => {
    await scene.daemon({ args: NEVER });
    const reference = image();
    const first = await scene.ctl("pull", reference);
    const told = `^pulling ${reference} \\(2 layers, \\S+\\)\nunpacking ${reference}\n${reference} has come\n$`;
    expect(first).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(told),
      stdout: expect.stringMatching(/^sha256:[0-9a-f]{64}\n$/),
    });
    expect((await scene.ctl("pull", reference)).stderr).toContain("is there, and its source has nothing newer");
    expect(await scene.ctl("pull", "oci:busybox")).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringContaining("oci:busybox is no reference to an image"),
    });
    expect((await scene.ctl("images", "--most", "2")).status).toBe(2);
    mkdirSync(join(scene.directory, "empty"));
    expect((await scene.ctl("pull", `oci:${scene.directory}/empty`)).status).toBe(1);
  });
});
