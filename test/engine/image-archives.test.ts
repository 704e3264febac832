/** Archives of Docker: which programs read them, what the store has of them, and archives that are not what they say. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { baseLayer, type ImageText, tar, writeDockerArchive } from "./image-files.ts";
import { http, isRoot, until, useEngine } from "./support.ts";

const HAS_PROGRAMS = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));
const MOST_BYTES = 16 << 20;

const digestOf = (bytes: Buffer) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

describe.skipIf(!isRoot || !HAS_PROGRAMS)("archives of Docker (needs root, skopeo and umoci)", () => {
  const scene = useEngine();
  const archive = (image: Partial<ImageText> = {}, name = "archive.tar"): string => {
    writeDockerArchive(join(scene.directory, name), { layers: [baseLayer()], config: { Cmd: ["/bin/sh", "-c", "true"] }, ...image });
    return `docker-archive:${join(scene.directory, name)}`;
  };
  const calls = join(scene.directory, "bin/calls");
  /** The verbs of skopeo since the last call. */
  const asked = () => {
    const verbs = existsSync(calls) ? readFileSync(calls, "utf8").split("\n").filter(Boolean) : [];
    rmSync(calls, { force: true });
    return verbs;
  };
  const counting = () => {
    const bin = join(scene.directory, "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "skopeo"), `#!/bin/sh\necho "$1" >> ${calls}\nexec /usr/bin/skopeo "$@"\n`, { mode: 0o755 });
    return `export PATH=${bin}:$PATH`;
  };
  /** What the daemon tells at the end of a pull. */
  const pull = async (reference: string): Promise<Readonly<Record<string, string>>> => {
    const { text } = await http(scene.socket, "POST", "/v1/images/pull", { reference });
    return JSON.parse(/event: (?:image|error)\ndata: (.*)/.exec(text)![1]!);
  };
  const images = (...parts: string[]) => join(scene.stateDir, "images", ...parts);
  const blobs = () => readdirSync(images("layout/blobs/sha256")).map((name) => `sha256:${name}`);

  test("one program gets an archive, and one looks whether it has changed; the store has its layers as the archive has them", async () => {
    await scene.daemon({ before: counting() });
    const upper = tar([{ name: "upper", content: "upper" }]);
    // Two layers may be the same.
    const reference = archive({ layers: [baseLayer(), upper, upper] });
    const first = await pull(reference);
    expect(asked()).toEqual(["copy"]);
    expect(first).toMatchObject({ reference, via: "pulled" });
    expect(first["digest"]).toBe(digestOf(execFileSync("skopeo", ["inspect", "--raw", reference])));
    expect(blobs()).toEqual(expect.arrayContaining([digestOf(baseLayer()), digestOf(upper)]));
    // A manifest, a configuration and two layers.
    expect(blobs()).toHaveLength(4);
    for (const name of blobs()) expect(digestOf(readFileSync(images("layout/blobs/sha256", name.slice(7)))), name).toBe(name);
    expect(await pull(reference)).toMatchObject({ via: "current", digest: first["digest"] });
    expect(asked()).toEqual(["inspect"]);
    archive({ layers: [baseLayer(), tar([{ name: "upper", content: "newer" }])] });
    const second = await pull(reference);
    expect(second["via"]).toBe("pulled");
    expect(second["digest"]).not.toBe(first["digest"]);
    expect(asked()).toEqual(["inspect", "copy"]);
    await until(() => readdirSync(images("staging")).length === 0);
  });

  test("what is no image, or not the one that it says, is refused, and nothing of it stays", async () => {
    await scene.daemon({ args: ["--image-max-size", String(MOST_BYTES)] });
    const garbage = join(scene.directory, "garbage.tar");
    writeFileSync(garbage, Buffer.alloc(10_240, 0x41));
    const rootfs = { type: "layers", diff_ids: [`sha256:${"0".repeat(64)}`] };
    const large = tar([{ name: "zeros", content: Buffer.alloc(MOST_BYTES + 1) }]);
    const cases: readonly (readonly [reference: string, reason: RegExp])[] = [
      ["docker-archive:/nowhere.tar", /skopeo has failed .*no such file/],
      [`docker-archive:${garbage}`, /skopeo has failed/],
      [archive({ top: { rootfs } }, "other-layer.tar"), /skopeo has failed .*[Dd]igest/],
      [archive({ top: { rootfs: { type: "layers", diff_ids: [] } } }, "fewer.tar"), /skopeo has failed|0 layers|1 layers/],
      [archive({ top: { architecture: "mips64" } }, "mips.tar"), /it is for linux\/mips64/],
      [archive({ layers: [large] }, "large.tar"), /this host allows/],
      [archive({ layers: [tar([{ name: "../out", content: "x" }])] }, "out.tar"), /leads out of the root file system/],
    ];
    for (const [reference, reason] of cases) expect((await pull(reference))["message"], reference).toMatch(reason);
    await until(() => readdirSync(images("staging")).length === 0);
    await until(() => blobs().length === 0);
    expect(await pull(archive())).toMatchObject({ via: "pulled" });
  });
});
