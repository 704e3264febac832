import { existsSync, readdirSync, readFileSync } from "node:fs";
import * as assert from "../assert.ts";
import { hierarchyOf, isUnified } from "../cgroups.ts";
import type { Context } from "../context.ts";
import { group } from "../group.ts";
import { limits } from "./resources.ts";

const BLOCK_IO = "/linux/resources/blockIO";

/** A whole disk of this machine: the kernel takes limits of no other block devices. */
function disk(c: Context): { major: number; minor: number } {
  const name = readdirSync("/sys/block").find((entry) => /^(vd|sd|nvme|xvd)/.test(entry)) ?? c.skip("needs a disk");
  const [major = 0, minor = 0] = readFileSync(`/sys/block/${name}/dev`, "utf8").trim().split(":").map(Number);
  return { major, minor };
}

/** The first of the files that a new cgroup of this host has. */
async function present(c: Context, names: readonly string[]): Promise<string | undefined> {
  const container = await c.create();
  const directory = await container.cgroup(isUnified() ? "io" : "blkio");
  const found = names.find((name) => existsSync(`${directory}/${name}`));
  await container.delete("--force");
  return found;
}

const WEIGHT_FILES = ["blkio.weight", "blkio.bfq.weight", "io.bfq.weight", "io.weight"];

export const blockIO = group("BLK", "resources: blockIO", ({ must }) => {
  must(1, "weight is written if the host has a file for it, and refused otherwise", async (c) => {
    const file = await present(c, WEIGHT_FILES);
    if (file === undefined) return void (await c.refused(limits({ blockIO: { weight: 500 } }), `${BLOCK_IO}/weight`));
    const container = await c.create(limits({ blockIO: { weight: 500 } }));
    const value = await container.limit(isUnified() ? "io" : "blkio", file);
    assert.match(value, file === "io.weight" ? /^(default )?4950\b/ : /^(default )?500\b/);
  });
  must(2, "leafWeight is refused if the host has no file for it", async (c) => {
    const file = isUnified() ? undefined : await present(c, ["blkio.leaf_weight", "blkio.leaf_weight_device"]);
    if (file === undefined) return void (await c.refused(limits({ blockIO: { leafWeight: 300 } }), `${BLOCK_IO}/leafWeight`));
    const container = await c.create(limits({ blockIO: { leafWeight: 300 } }));
    assert.equal(await container.limit("blkio", "blkio.leaf_weight"), "300");
  });
  must(3, "an entry of weightDevice has a weight, and is written or refused", async (c) => {
    const device = disk(c);
    await c.refused(limits({ blockIO: { weightDevice: [device] } }), /^\/linux\/resources\/blockIO\/weightDevice\/0/);
    const file = await present(c, ["blkio.weight_device", "blkio.bfq.weight_device", "io.bfq.weight"]);
    const bundle = c.bundle(limits({ blockIO: { weightDevice: [{ ...device, weight: 400 }] } }));
    const container = c.container(bundle);
    // Also where the disk has another scheduler: then the kernel refuses the write.
    if (file === undefined || (await c.call(["create", "--bundle", bundle, container.id])).status !== 0) {
      return void (await c.refusedBundle(bundle, /^\/linux\/resources\/blockIO\/weightDevice/));
    }
    assert.match(await container.limit(isUnified() ? "io" : "blkio", file), new RegExp(`${device.major}:${device.minor} 400`));
  });
  must(4, "the four throttles limit a disk", async (c) => {
    const device = disk(c);
    const names = {
      throttleReadBpsDevice: 1_000_000,
      throttleWriteBpsDevice: 2_000_000,
      throttleReadIOPSDevice: 300,
      throttleWriteIOPSDevice: 400,
    };
    const resources = Object.fromEntries(Object.entries(names).map(([name, rate]) => [name, [{ ...device, rate }]]));
    const container = await c.create(limits({ blockIO: resources }));
    const id = `${device.major}:${device.minor}`;
    if (isUnified()) return assert.equal(await container.limit("io", "io.max"), `${id} rbps=1000000 wbps=2000000 riops=300 wiops=400`);
    for (const [file, rate] of [
      ["read_bps", 1_000_000],
      ["write_bps", 2_000_000],
      ["read_iops", 300],
      ["write_iops", 400],
    ] as const) {
      assert.equal(await container.limit("blkio", `blkio.throttle.${file}_device`), `${id} ${rate}`);
    }
  });
  must(5, "a throttle needs its numbers, and a missing device is reported", async (c) => {
    await c.refused(
      limits({ blockIO: { throttleReadBpsDevice: [{ major: 8, rate: 5 }] } }),
      /^\/linux\/resources\/blockIO\/throttleReadBpsDevice\/0/,
    );
    const result = await c.refused(
      limits({ blockIO: { throttleReadBpsDevice: [{ major: 250, minor: 99, rate: 1000 }] } }),
      /^\/linux\/resources\/blockIO\/throttleReadBpsDevice/,
    );
    assert.match(result.stderr, /no such device|no block device/i);
    assert.ok(hierarchyOf(isUnified() ? "io" : "blkio") !== undefined);
  });
});
