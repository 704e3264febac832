import * as assert from "../assert.ts";
import { isUnified } from "../cgroups.ts";
import { group } from "../group.ts";
import { applied, limitOf, limits, onlyV1, update } from "./resources.ts";

const MAX = { controller: "memory", v1: "memory.limit_in_bytes", v2: "memory.max" };
const SWAP = { controller: "memory", v1: "memory.memsw.limit_in_bytes", v2: "memory.swap.max" };
const LOW = { controller: "memory", v1: "memory.soft_limit_in_bytes", v2: "memory.low" };
const MEMORY = "/linux/resources/memory";
/** What v1 shows for "no limit". */
const UNLIMITED_V1 = "9223372036854771712";
const MB = 1 << 20;
const unlimited = { v1: UNLIMITED_V1, v2: "max" };

export const memory = group("MEM", "resources: memory", ({ must }) => {
  must(1, "limit is the memory limit", (c) => applied(c, { memory: { limit: 64 * MB } }, MAX, String(64 * MB)));
  must(2, "-1 is no limit", async (c) => {
    assert.equal(await limitOf(c, { memory: { limit: -1 } }, MAX), isUnified() ? unlimited.v2 : unlimited.v1);
    const container = await c.create(limits({ memory: { limit: 64 * MB } }));
    await update(container, { memory: { limit: -1, swap: -1 } });
    assert.equal(await container.limit("memory", isUnified() ? MAX.v2 : MAX.v1), isUnified() ? "max" : UNLIMITED_V1);
  });
  must(3, "swap is the limit of memory and swap together", (c) =>
    applied(c, { memory: { limit: 64 * MB, swap: 96 * MB } }, SWAP, { v1: String(96 * MB), v2: String(32 * MB) }),
  );
  must(4, "swap below the limit is refused; on cgroup v2 also swap without a limit", async (c) => {
    await c.refused(limits({ memory: { limit: 64 * MB, swap: 32 * MB } }), `${MEMORY}/swap`);
    if (isUnified()) await c.refused(limits({ memory: { swap: 32 * MB } }), `${MEMORY}/swap`);
  });
  must(5, "without a memory limit there is also no swap limit", async (c) => {
    const container = await c.create(limits({ memory: { limit: 64 * MB, swap: 64 * MB } }));
    await update(container, { memory: { limit: -1 } });
    assert.equal(await container.limit("memory", isUnified() ? SWAP.v2 : SWAP.v1), isUnified() ? "max" : UNLIMITED_V1);
  });
  must(6, "reservation is the soft limit, or the protected size", (c) =>
    applied(c, { memory: { reservation: 32 * MB } }, LOW, String(32 * MB)),
  );
  must(
    7,
    "kernel: no current kernel honours it; it is left out with a message",
    async (c) => {
      const container = await c.create(limits({ memory: { kernel: 32 * MB } }));
      if (!isUnified()) assert.equal(await container.limit("memory", "memory.kmem.limit_in_bytes"), UNLIMITED_V1);
      if (c.isRunt) assert.match((await c.call(["plan", "--bundle", container.bundle])).stdout, /memory.kernel has no effect/);
    },
    { note: "a named warning, as runc does" },
  );
  must(
    8,
    "kernelTCP limits the buffers of TCP on cgroup v1",
    async (c) => {
      const container = await c.create(limits({ memory: { kernelTCP: 32 * MB } }));
      if (!isUnified()) assert.equal(await container.limit("memory", "memory.kmem.tcp.limit_in_bytes"), String(32 * MB));
      else if (c.isRunt) assert.match((await c.call(["plan", "--bundle", container.bundle])).stdout, /memory.kernelTCP: it has no effect/);
    },
    { note: "cgroup v2 has no such file: a named warning" },
  );
  must(9, "swappiness is 0 to 100; cgroup v2 has no such file and refuses it", async (c) => {
    await c.refused(limits({ memory: { swappiness: 101 } }), `${MEMORY}/swappiness`);
    await onlyV1(c, { memory: { swappiness: 17 } }, { controller: "memory", v1: "memory.swappiness" }, "17", `${MEMORY}/swappiness`);
  });
  must(10, "disableOOMKiller stops the killer; cgroup v2 cannot and refuses it", async (c) => {
    if (isUnified()) return void (await c.refused(limits({ memory: { disableOOMKiller: true } }), `${MEMORY}/disableOOMKiller`));
    const container = await c.create(limits({ memory: { limit: 64 * MB, disableOOMKiller: true } }));
    assert.match(await container.limit("memory", "memory.oom_control"), /^oom_kill_disable 1$/m);
  });
  must(11, "useHierarchy true is the behaviour of cgroups; false is refused", async (c) => {
    const container = await c.create(limits({ memory: { useHierarchy: true } }));
    if (!isUnified()) assert.equal(await container.limit("memory", "memory.use_hierarchy"), "1");
    await container.delete("--force");
    if (c.isRunt && isUnified()) await c.refused(limits({ memory: { useHierarchy: false } }), `${MEMORY}/useHierarchy`);
  });
  must(12, "checkBeforeUpdate: a limit below the current use is refused", async (c) => {
    const container = await c.start(limits({ memory: { limit: 256 * MB } }));
    const usage = Number(await container.limit("memory", isUnified() ? "memory.current" : "memory.usage_in_bytes"));
    assert.ok(usage > 4096);
    const result = await c.call(["update", "--resources", "-", container.id], {
      input: JSON.stringify({ memory: { limit: 4096, swap: 4096, checkBeforeUpdate: true } }),
    });
    assert.notEqual(result.status, 0);
    assert.equal(await container.limit("memory", isUnified() ? MAX.v2 : MAX.v1), String(256 * MB));
    assert.equal((await container.state()).status, "running");
  });
  must(13, "raising and lowering both limits works in either direction", async (c) => {
    const container = await c.create(limits({ memory: { limit: 64 * MB, swap: 64 * MB } }));
    for (const size of [256, 32, 128]) {
      await update(container, { memory: { limit: size * MB, swap: size * MB } });
      assert.equal(await container.limit("memory", isUnified() ? MAX.v2 : MAX.v1), String(size * MB));
      assert.equal(await container.limit("memory", isUnified() ? SWAP.v2 : SWAP.v1), isUnified() ? "0" : String(size * MB));
    }
  });
});
