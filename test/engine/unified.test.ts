/** Tasks on cgroup v2 alone: the daemon has nothing else in its mount namespace. The host looks where it has the unified hierarchy itself. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hierarchies } from "../../src/executor/process/cgroups.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { cgroupsNamed } from "./kernel-files.ts";
import { http, isRoot, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

const HERE = hierarchies().find(({ version }) => version === 2)?.mountpoint;
const ONLY_V2 = "umount -R /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup";

describe.skipIf(!isRoot || HERE === undefined)("tasks on cgroup v2 (needs root and a host with the unified hierarchy)", () => {
  const scene = useEngine();
  const NAME = "with-two-dashes";
  const task = async () => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${NAME}`)).text);
  const apply = async (fields: Readonly<Record<string, unknown>> = {}) => {
    const text = taskText(scene.rootfs(), NAME, [{ name: "a-1" }, { name: "b" }], fields);
    expect((await http(scene.socket, "POST", "/v1/apply", { text })).text).toContain("created");
  };
  /** Of the unified hierarchy, as the kernel tells it. */
  const cgroupOf = (pid: number) => /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))![1]!;

  test("T5 the cgroup of a task has its containers directly below it, and another daemon finds them there; both are removed", async () => {
    const first = await scene.daemon({ before: ONLY_V2 });
    await apply();
    await until(async () => (await task()).known === "RUNNING");
    const { id, containers } = await task();
    const pids = scene.list().map(({ pid }) => pid);
    expect(pids).toHaveLength(2);
    const levels = pids.map((pid) =>
      cgroupOf(pid)
        .slice(CGROUP_PARENT.length + 1)
        .split("/"),
    );
    for (const [parent, own, ...rest] of levels) {
      // However many dashes there are in its name: two levels.
      expect(parent).toMatch(new RegExp(`^${id}-[0-9a-f]{12}$`));
      expect(containers.map((one: { id: string }) => one.id)).toContain(own);
      expect(rest).toEqual([]);
    }
    expect(new Set(levels.map(([parent]) => parent)).size).toBe(1);
    const directory = join(HERE!, CGROUP_PARENT, levels[0]![0]!);
    // Processes are in the leaves only, as the kernel wants it where controllers are handed down.
    expect(readFileSync(join(directory, "cgroup.procs"), "utf8")).toBe("");
    expect(readFileSync(join(directory, "cgroup.events"), "utf8")).toMatch(/^populated 1$/m);
    await first.kill();
    await scene.daemon({ before: ONLY_V2 });
    expect(scene.list().map(({ pid }) => pid)).toEqual(pids);
    expect((await http(scene.socket, "DELETE", `/v1/tasks/${NAME}`)).status).toBe(202);
    await until(async () => (await http(scene.socket, "GET", `/v1/tasks/${NAME}`)).status === 404);
    expect([existsSync(directory), cgroupsNamed(id)]).toEqual([false, []]);
  });

  test("a container has its limit of huge pages, and one of a size that the kernel does not have is refused", async () => {
    const controllers = readFileSync(join(HERE!, "cgroup.controllers"), "utf8").split(/\s/);
    const limit = (pages: object) => taskText(scene.rootfs(), NAME, [{ name: "a-1", fields: { hugepages: pages } }]);
    await scene.daemon({ before: ONLY_V2 });
    const refused = await http(scene.socket, "POST", "/v1/apply", { text: limit({ "7MB": "7Mi" }) });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("/containers/0/hugepages/7MB")]);
    if (!controllers.includes("hugetlb") || !existsSync("/sys/kernel/mm/hugepages/hugepages-2048kB")) return;
    expect((await http(scene.socket, "POST", "/v1/apply", { text: limit({ "2MB": "4Mi" }) })).text).toContain("created");
    await until(async () => (await task()).known === "RUNNING");
    const [{ pid } = { pid: 0 }] = scene.list();
    expect(readFileSync(join(HERE!, cgroupOf(pid), "hugetlb.2MB.max"), "utf8")).toBe("4194304\n");
    expect((await http(scene.socket, "DELETE", `/v1/tasks/${NAME}`)).status).toBe(202);
    await until(async () => (await http(scene.socket, "GET", `/v1/tasks/${NAME}`)).status === 404);
  });

  test("T5 a limit whose controller this hierarchy does not have stops the task, which names it", async () => {
    if (readFileSync(join(HERE!, "cgroup.controllers"), "utf8").split(/\s/).includes("memory")) return;
    await scene.daemon({ before: ONLY_V2 });
    await apply({ memory: "64Mi" });
    await until(async () => (await task()).known === "STOPPED");
    expect((await task()).reason).toContain("has the controller memory");
    expect(scene.list()).toEqual([]);
    expect((await http(scene.socket, "DELETE", `/v1/tasks/${NAME}`)).status).toBe(202);
    await until(async () => (await http(scene.socket, "GET", `/v1/tasks/${NAME}`)).status === 404);
  });
});
