/** A disk that is full while an image is got, or unpacked: the task says so, and nothing of the image stays. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { baseLayer, tar, writeLayout } from "./image-files.ts";
import { http, isRoot, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const HAS_PROGRAMS = ["/usr/bin/skopeo", "/usr/bin/umoci"].every((name) => existsSync(name));
const MIB = 1 << 20;

describe.skipIf(!isRoot || !HAS_PROGRAMS)("a full disk for images (needs root, skopeo and umoci)", () => {
  const scene = useEngine();

  // The packed layer alone is 4 MiB, and does not get smaller.
  test.each([
    ["while it is copied", 3],
    ["while it is unpacked", 7],
  ])("%s: the task stops with that reason, and nothing of the image is left", async (row, mib) => {
    const images = join(scene.stateDir, "images");
    mkdirSync(images, { recursive: true, mode: 0o700 });
    const daemon = await scene.daemon({ before: `mount -t tmpfs -o size=${mib}m,mode=0700 tmpfs ${images}` });
    const seen = (path: string) => `/proc/${daemon.pid}/root${join(images, path)}`;
    const directory = join(scene.directory, `layout-${row.replaceAll(" ", "-")}`);
    writeLayout(directory, { layers: [baseLayer(), tar([{ name: "large", content: randomBytes(4 * MIB) }])] });
    const container = { name: "main", image: `oci:${directory}:v1`, command: "/bin/sh", args: ["-c", SLEEP] };
    await http(scene.socket, "POST", "/v1/apply", { text: JSON.stringify({ name: "t", containers: [container] }) });
    const task = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text);
    await until(async () => (await task()).known === "STOPPED");
    // umoci crashes more often than it says so.
    expect((await task()).reason).toMatch(/no space left on device/i);
    expect((await scene.ctl("delete", "t")).status).toBe(0);
    const entries = (name: string) => (existsSync(seen(name)) ? readdirSync(seen(name)) : []);
    await until(() => ["staging", "roots"].every((name) => entries(name).length === 0));
    expect((await scene.ctl("images", "prune")).status).toBe(0);
    expect(JSON.parse((await http(scene.socket, "GET", "/v1/images")).text)).toEqual({ images: [] });
    // A layer that was unpacked as a whole is of use to other images until then.
    expect(entries("layers")).toEqual([]);
  });
});
