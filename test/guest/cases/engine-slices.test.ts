/** Tasks where systemd keeps the cgroups (T5): each is a slice with its limits, and its containers are scopes in it. systemd and the kernel are the witnesses. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { http, identityOf, until } from "../../engine/requests.ts";
import { LONGEST_MS, useEngine } from "../../engine/support.ts";
import { taskText } from "../../engine/tasks.ts";
import { CGROUP_PARENT } from "../../support/leaks.ts";
import { show, systemdRuns, units } from "../../support/systemd.ts";

const NAME = "with-two-dashes";
const MIB = 1024 * 1024;

describe.skipIf(!systemdRuns)("tasks as slices of systemd (needs the guest)", () => {
  const scene = useEngine();
  const get = async () => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${NAME}`)).text);
  const apply = async (fields: object) => {
    const text = taskText(scene.rootfs(), NAME, [{ name: "a-1" }, { name: "b", fields: { pids: 20 } }], { ...fields });
    expect((await http(scene.socket, "POST", "/v1/apply", { text })).text).toContain("created");
    await until(async () => (await get()).known === "RUNNING");
  };
  const remove = async () => {
    expect((await http(scene.socket, "DELETE", `/v1/tasks/${NAME}`)).status).toBe(202);
    await until(async () => (await http(scene.socket, "GET", `/v1/tasks/${NAME}`)).status === 404);
  };
  const cgroupOf = (pid: number) => readFileSync(`/proc/${pid}/cgroup`, "utf8").trim().replace(/^0::/, "");
  const unitName = (text: string) => text.replaceAll("-", "\\x2d");
  const ENGINE = `${unitName(CGROUP_PARENT.slice(1))}.slice`;
  /** Of the engine, as systemd knows them. */
  const slices = async () => (await units("*.slice")).filter((name) => name.startsWith(ENGINE.slice(0, -".slice".length)));
  const args = ["--cgroup-manager", "systemd"];

  test(
    "T5 exactly two levels below the engine's slice, whatever dashes there are; limits are the task's; another daemon finds them; all of it goes",
    async () => {
      const first = await scene.daemon({ args });
      await apply({ memory: "64Mi", pids: 50, cpus: 0.25 });
      const { id, containers } = await get();
      const found = scene.list();
      expect(found).toHaveLength(2);
      const paths = found.map(({ pid }) => cgroupOf(pid).split("/").slice(1));
      for (const [above, slice, scope, ...rest] of paths) {
        expect(above).toBe(ENGINE);
        const [start, end] = [`${ENGINE.slice(0, -".slice".length)}-${unitName(id)}\\x2d`, /^[0-9a-f]{12}\.slice$/];
        expect([slice!.slice(0, start.length), slice!.slice(start.length)]).toEqual([start, expect.stringMatching(end)]);
        expect(containers.map((one: { id: string }) => `runt-${one.id}.scope`)).toContain(scope);
        expect(rest).toEqual([]);
      }
      const [[above, slice]] = paths as [string[]];
      const directory = join("/sys/fs/cgroup", above!, slice!);
      const limits = ["memory.max", "memory.swap.max", "pids.max", "cpu.max"].map((name) =>
        readFileSync(join(directory, name), "utf8").trim(),
      );
      expect(limits).toEqual([String(64 * MIB), "0", "50", "25000 100000"]);
      expect(await show(slice!, "ControlGroup", "ActiveState", "MemoryMax", "TasksMax")).toEqual({
        ControlGroup: `/${above}/${slice}`,
        ActiveState: "active",
        MemoryMax: String(64 * MIB),
        TasksMax: "50",
      });
      for (const { id: container } of containers)
        expect(await show(`runt-${container}.scope`, "Slice", "ActiveState")).toEqual({ Slice: slice, ActiveState: "active" });

      // systemd keeps what it knows through a reload of its own.
      execFileSync("systemctl", ["daemon-reload"]);
      expect(readFileSync(join(directory, "memory.max"), "utf8").trim()).toBe(String(64 * MIB));
      const before = found.map(({ pid }) => identityOf(pid));
      await first.kill();
      await scene.daemon({ args });
      expect(scene.list().map(({ pid }) => identityOf(pid))).toEqual(before);
      expect((await get()).known).toBe("RUNNING");
      await remove();
      expect([existsSync(directory), await slices(), scene.list()]).toEqual([false, [], []]);
      expect(await units(`runt-${id}*`)).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "T5 a task stays as it was made when the next daemon keeps the cgroups otherwise, and new ones are as that says",
    async () => {
      const first = await scene.daemon({ args });
      await apply({ pids: 50 });
      const slice = cgroupOf(scene.list()[0]!.pid);
      await first.kill();
      await scene.daemon();
      expect(cgroupOf(scene.list()[0]!.pid)).toBe(slice);
      await remove();
      expect([existsSync(join("/sys/fs/cgroup", slice)), await slices()]).toEqual([false, []]);
      await apply({ pids: 50 });
      expect(cgroupOf(scene.list()[0]!.pid)).toMatch(new RegExp(`^${CGROUP_PARENT}/`));
      await remove();
    },
    LONGEST_MS,
  );
});
