import { existsSync, readdirSync, readFileSync } from "node:fs";
import * as assert from "../assert.ts";
import { hierarchyOf, isUnified } from "../cgroups.ts";
import type { Context } from "../context.ts";
import { group } from "../group.ts";
import { applied, limits, onlyV1 } from "./resources.ts";

const RESOURCES = "/linux/resources";
const PIDS = { controller: "pids", v1: "pids.max", v2: "pids.max" };
const MB = 1 << 20;

/** A page size of this host as the specification writes it. */
function pageSize(c: Context): string {
  if (hierarchyOf("hugetlb") === undefined) c.skip("needs the hugetlb controller");
  const size = readdirSync("/sys/kernel/mm/hugepages").find((name) => name === "hugepages-2048kB") ?? c.skip("needs huge pages of 2 MB");
  return size === "hugepages-2048kB" ? "2MB" : "";
}

/** An RDMA device, which few machines have. */
function rdmaDevice(): string | undefined {
  return existsSync("/sys/class/infiniband") ? readdirSync("/sys/class/infiniband")[0] : undefined;
}

export const otherResources = group("OTH", "resources: pids, hugepages, network, rdma, unified", ({ must, should }) => {
  must(1, "pids.limit is the maximum number of processes; -1 is no limit", async (c) => {
    await applied(c, { pids: { limit: 33 } }, PIDS, "33");
    const container = await c.create(limits({ pids: { limit: -1 } }));
    assert.equal(await container.limit("pids", "pids.max"), "max");
  });
  should(2, "pids.limit 0 is a limit: the program cannot fork", async (c) => {
    const asked = await c.run("(true) 2>/dev/null && echo forked || echo alone", limits({ pids: { limit: 0 } }));
    assert.doesNotMatch(asked.stdout, /forked/);
    assert.match(await c.output("(true) && echo forked", limits({ pids: { limit: 9 } })), /forked/);
  });
  must(3, "hugepageLimits limit the use, and also reservations if the kernel counts them", async (c) => {
    const size = pageSize(c);
    const container = await c.create(limits({ hugepageLimits: [{ pageSize: size, limit: 8 * MB }] }));
    const suffix = isUnified() ? "max" : "limit_in_bytes";
    const directory = await container.cgroup("hugetlb");
    const files = [`hugetlb.${size}.${suffix}`, `hugetlb.${size}.rsvd.${suffix}`].filter((name) => existsSync(`${directory}/${name}`));
    assert.ok(files.length > 0);
    for (const file of files) assert.equal(await container.limit("hugetlb", file), String(8 * MB), file);
  });
  must(4, "a page size that the host does not have is refused", async (c) => {
    pageSize(c);
    await c.refused(limits({ hugepageLimits: [{ pageSize: "3MB", limit: 8 * MB }] }), /^\/linux\/resources\/hugepageLimits\/0/);
  });
  must(5, "network.classID and priorities have files on v1; cgroup v2 refuses them", async (c) => {
    if (!isUnified() && (hierarchyOf("net_cls") === undefined || hierarchyOf("net_prio") === undefined))
      c.skip("needs net_cls and net_prio");
    await onlyV1(
      c,
      { network: { classID: 1048577 } },
      { controller: "net_cls", v1: "net_cls.classid" },
      "1048577",
      `${RESOURCES}/network/classID`,
    );
    const priorities = limits({ network: { priorities: [{ name: "lo", priority: 7 }] } });
    if (isUnified()) return void (await c.refused(priorities, /^\/linux\/resources\/network\/priorities/));
    assert.match(await (await c.create(priorities)).limit("net_prio", "net_prio.ifpriomap"), /^lo 7$/m);
  });
  must(6, "an rdma device has a limit, and is written to rdma.max or refused", async (c) => {
    await c.refused(limits({ rdma: { mlx5_1: {} } }), /^\/linux\/resources\/rdma/);
    const device = rdmaDevice();
    if (device === undefined) return void (await c.refused(limits({ rdma: { mlx5_1: { hcaHandles: 3 } } }), /^\/linux\/resources\/rdma/));
    const container = await c.create(limits({ rdma: { [device]: { hcaHandles: 3, hcaObjects: 1000 } } }));
    assert.match(await container.limit("rdma", "rdma.max"), new RegExp(`${device} hca_handle=3 hca_object=1000`));
  });
  must(
    7,
    "unified: every key is written to the file of its name",
    async (c) => {
      const container = await c.create(limits({ unified: { "memory.high": "67108864", "pids.max": "44", "cpu.weight": "50" } }));
      assert.equal(await container.limit("memory", "memory.high"), "67108864");
      assert.equal(await container.limit("pids", "pids.max"), "44");
      assert.equal(await container.limit("cpu", "cpu.weight"), "50");
    },
    { needs: ["cgroup2"] },
  );
  must(
    8,
    "needed controllers are enabled at every level above",
    async (c) => {
      const container = await c.create((config) => {
        limits({ memory: { limit: 64 * MB }, pids: { limit: 9 } })(config);
        config.linux.cgroupsPath = `${c.cgroup}/a/b`;
      });
      const directory = await container.cgroup("memory");
      const parent = directory.slice(0, directory.lastIndexOf("/"));
      const enabled = readFileSync(`${parent}/cgroup.subtree_control`, "utf8").trim().split(" ");
      assert.ok(enabled.includes("memory") && enabled.includes("pids"), enabled.join(" "));
    },
    { needs: ["cgroup2"] },
  );
  must(9, "unified on a v1 host, or for a missing controller, is refused", async (c) => {
    if (!isUnified()) return void (await c.refused(limits({ unified: { "memory.high": "67108864" } }), /^\/linux\/resources\/unified/));
    await c.refused(limits({ unified: { "foo.bar": "1" } }), /^\/linux\/resources\/unified/);
  });
  must(10, "a key with a slash is refused", async (c) => {
    for (const key of ["../memory.high", "a/memory.high"])
      await c.refused(limits({ unified: { [key]: "1" } }), /^\/linux\/resources\/unified/);
  });
  should(
    11,
    "unified comes last and wins",
    async (c) => {
      const container = await c.create(limits({ memory: { limit: 64 * MB }, unified: { "memory.max": String(96 * MB) } }));
      assert.equal(await container.limit("memory", "memory.max"), String(96 * MB));
    },
    { needs: ["cgroup2"] },
  );
  should(
    12,
    "each field without a file on cgroup v2 is refused",
    async (c) => {
      const fields: readonly (readonly [object, RegExp])[] = [
        [{ memory: { swappiness: 10 } }, /swappiness/],
        [{ memory: { disableOOMKiller: true } }, /disableOOMKiller/],
        [{ cpu: { realtimeRuntime: 1000 } }, /realtimeRuntime/],
        [{ cpu: { realtimePeriod: 100_000 } }, /realtimePeriod/],
        [{ blockIO: { leafWeight: 100 } }, /leafWeight/],
        [{ network: { classID: 5 } }, /classID/],
      ];
      for (const [resources, pointer] of fields) await c.refused(limits(resources), pointer);
    },
    { needs: ["cgroup2"] },
  );
});
