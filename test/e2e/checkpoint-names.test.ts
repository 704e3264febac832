/**
 * checkpoint and restore: names of mount points and sources that criu would split or cut. The image decides them: links of its root filesystem,
 * files of the checkpoint.
 */
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { bind, useDumpedMounts } from "../support/dumped-mounts.ts";
import { FIELD, pairs } from "../support/fake-criu.ts";
import { isRoot, isRunt, useHarness } from "../support/harness.ts";

describe.skipIf(!(isRunt && isRoot))("names that criu would split (needs root)", () => {
  const harness = useHarness();
  const { image, images, ok, requests, restoring, running, runtime, stateOf, made, refused, rootfs } = useDumpedMounts(harness);

  const SPLIT = "/data]:/etc";

  test("at a checkpoint: the mount point is named, criu is not asked, the container goes on", async () => {
    const { name } = await running((config) => {
      config.root.path = rootfs({ b: SPLIT });
      config.mounts.push(bind("/b", made()), bind("/data", made()));
    });
    const { status, stderr } = await runtime(["checkpoint", "--image-path", images(), name]);
    expect([status, stderr]).toEqual([1, expect.stringContaining(`criu cannot keep the mount point "${SPLIT}"`)]);
    expect([requests(), existsSync(images())]).toEqual([[], false]);
    expect((await stateOf(name)).status).toBe("running");
  });

  test("at a pre-dump as well", async () => {
    const { name } = await running((config) => {
      config.root.path = rootfs({ b: SPLIT });
      config.mounts.push(bind("/b", made()));
    });
    const { stderr } = await runtime(["checkpoint", "--pre-dump", "--image-path", images(), name], { FAKE_FEATURES: "mem" });
    expect(stderr).toContain(`criu cannot keep the mount point "${SPLIT}"`);
  });

  test("a mount of the container's own whose name ends early for criu", async () => {
    const { name } = await running((config) => {
      config.root.path = rootfs({ b: "/data\rrw" });
      config.mounts.push({ destination: "/b", type: "tmpfs", source: "tmpfs", options: [] });
    });
    const { stderr } = await runtime(["checkpoint", "--image-path", images(), name]);
    expect(stderr).toContain('criu cannot keep the mount point "/data\\rrw"');
    expect(requests()).toEqual([]);
  });

  test("at a restore: by a link of the root filesystem", async () => {
    const stderr = await refused((config) => {
      config.root.path = rootfs({ b: SPLIT });
      config.mounts.push(bind("/b", made()));
    });
    expect(stderr).toContain(`criu cannot keep the mount point "${SPLIT}"`);
  });

  test("at a restore: by a link in what is bound", async () => {
    const volume = made();
    mkdirSync(join(volume, "x]:", "etc"), { recursive: true });
    symlinkSync("x]:/etc", join(volume, "link"));
    const stderr = await refused((config) => {
      config.root.path = rootfs({});
      config.mounts.push(bind("/mnt", volume), bind("/mnt/link", made()));
    });
    expect(stderr).toContain('criu cannot keep the mount point "/mnt/x]:/etc"');
  });

  test("at a restore: by the configuration, target and source", async () => {
    const target = await refused((config) => {
      config.root.path = rootfs({});
      config.mounts.push(bind(SPLIT, made()));
    });
    expect(target).toContain(`criu cannot keep the mount point "${SPLIT}"`);
    const source = await refused((config) => {
      config.root.path = rootfs({});
      config.mounts.push(bind("/mnt", made("a]:b")));
    });
    expect(source).toMatch(/criu cannot keep the mount point "\/mnt": its source ".*a\]:b" has/);
  });

  test("brackets and colons that it does not split go as they are", async () => {
    const [first, second] = [made(), made("[a]", "b:c")];
    const change = (config: Config) => {
      config.root.path = rootfs({ link: "/real[1]" });
      config.mounts = [bind("/mnt", first), bind("/link", second)];
    };
    const { name } = await running(change);
    await ok(["checkpoint", "--leave-running", "--image-path", images(), name]);
    expect(pairs(requests()[0]!.options, FIELD.externalMounts).sort()).toEqual([
      ["/mnt", "/mnt"],
      ["/real[1]", "/real[1]"],
    ]);
    image();
    await ok(restoring(change).args);
    const sent = pairs(requests()[1]!.options, FIELD.externalMounts);
    expect(sent).toContainEqual(["/mnt", first]);
    expect(sent).toContainEqual(["/real[1]", second]);
  });
});
