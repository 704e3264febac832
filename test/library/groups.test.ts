/** Executors that share namespaces and a cgroup. */
import { existsSync, mkdirSync, readFileSync, readlinkSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { cgroupOf, hasControllers, isUnified } from "../support/cgroups.ts";
import { CGROUP_PARENT, isGone, isRoot, printed, sleep, useExecutors } from "./support.ts";

const LINKS = { pid: "pid", ipc: "ipc", uts: "uts", network: "net", cgroup: "cgroup", mount: "mnt" } as const;

describe.skipIf(!isRoot)("executor: groups (needs root)", () => {
  const { executor, ownRootfs, script } = useExecutors();
  const namespaceOf = (pid: number, type: keyof typeof LINKS) => readlinkSync(`/proc/${pid}/ns/${LINKS[type]}`);

  test.each(["launch", "create"] as const)(
    "namespaces of another executor after its %s, and of a path: shared ones are the same, others are not",
    async (verb) => {
      const pause = executor();
      const { pid } = await pause[verb](script("exec sleep 1000", { hostname: "shared" }));
      const member = executor();
      const namespaces = {
        pid: { executor: pause.id },
        ipc: { executor: pause.id },
        network: { executor: pause.id },
        uts: { path: `/proc/${pid}/ns/uts` },
      };
      const { pid: second } = await member.launch(script("exec sleep 1000", { namespaces }));
      for (const type of ["pid", "ipc", "network", "uts"] as const) expect(namespaceOf(second, type)).toBe(namespaceOf(pid, type));
      for (const type of ["mount", "cgroup"] as const) expect(namespaceOf(second, type)).not.toBe(namespaceOf(pid, type));
      expect((await member.exec({ cmd: "hostname" })).output.toString()).toBe("shared\n");
      expect(readFileSync(`/proc/${second}/status`, "utf8")).toMatch(/^NSpid:\t\d+\t\d+$/m);
      expect(await member.shutdown({ graceMs: 0 })).toMatchObject({ state: { signal: 9 } });
      expect(isGone(pid)).toBe(false);
    },
  );

  test("the end of the one that has made the pid namespace ends its members", async () => {
    const pause = executor();
    await pause.launch(script("exec sleep 1000"));
    const member = executor();
    const { pid } = await member.launch(script("exec sleep 1000", { namespaces: { pid: { executor: pause.id } } }));
    await pause.shutdown({ graceMs: 0 });
    expect(await member.wait()).toMatchObject({ exitCode: 137, signal: 9, unknown: false });
    expect(isGone(pid)).toBe(true);
  });

  test("a sandbox is joined by its process, and a launch whose sandbox ends meanwhile is undone", async () => {
    const sandbox = executor();
    const { pid } = await sandbox.launch(script("exec sleep 1000"));
    const joined = { namespaces: { ipc: { executor: sandbox.id } }, sandbox: sandbox.id };
    const member = executor();
    const { pid: second } = await member.launch(script("exec sleep 1000", joined));
    expect(namespaceOf(second, "ipc")).toBe(namespaceOf(pid, "ipc"));

    // Without a mount at /dev its devices are made in the root file system.
    const rootfs = ownRootfs();
    const config = {
      ociVersion: "1.2.0",
      root: { path: rootfs },
      process: { args: ["/bin/sleep", "1000"], cwd: "/" },
      hooks: { createRuntime: [{ path: "/bin/sh", args: ["sh", "-c", `kill -9 ${pid}; while kill -0 ${pid}; do :; done`] }] },
      linux: { namespaces: [{ type: "pid" }, { type: "mount" }, { type: "ipc" }] },
    };
    const late = executor();
    await expect(late.launch({ config, bundle: rootfs, cgroupParent: CGROUP_PARENT, ...joined })).rejects.toMatchObject({
      code: "wrong-state",
    });
    expect(late.state).toBe("failed");
  });

  test("one that has ended, is unknown or has an odd id, and a mode that is none: an error that names it, and nothing is made", async () => {
    const gone = executor();
    await printed(gone, script("exit 0"));
    const refused: readonly [unknown, string][] = [
      [{ executor: gone.id }, "wrong-state"],
      [{ executor: "nobody" }, "id-unknown"],
      [{ executor: "../x" }, "invalid-argument"],
      [{ path: "relative" }, "invalid-argument"],
      [{}, "invalid-argument"],
      ["shared", "invalid-argument"],
    ];
    for (const [mode, code] of refused) {
      const one = executor();
      await expect(one.launch(script("exit 0", { namespaces: { ipc: mode as "private" } }))).rejects.toMatchObject({ code });
      expect(one.state).toBe("idle");
    }
    await expect(executor().launch(script("exit 0", { namespaces: { time: "private" } as object }))).rejects.toThrow("namespaces.time");
  });

  test.skipIf(!hasControllers)("a cgroup parent of the caller's: its limit is for all below it, and it stays", async () => {
    const first = executor();
    const { pid: probe } = await first.launch(script("exec sleep 1000"));
    const parent = join(dirname(cgroupOf(probe, "pids")), `group-${process.pid}`);
    mkdirSync(parent);
    try {
      if (isUnified) writeFileSync(join(parent, "cgroup.subtree_control"), "+pids");
      writeFileSync(join(parent, "pids.max"), "5");
      const cgroupParent = `${CGROUP_PARENT}/group-${process.pid}`;
      const [one, two] = [executor(), executor()];
      const { pid } = await one.launch(script("sleep 1000 & sleep 1000 & wait", { cgroupParent }));
      expect(dirname(cgroupOf(pid, "pids"))).toBe(parent);
      const crowd = printed(two, script("for i in 1 2 3 4; do sleep 1000 & done 2>&1; echo end", { cgroupParent }));
      expect((await crowd).text).toContain("fork");
      await one.shutdown({ graceMs: 0 });
      await sleep(100);
      expect(existsSync(parent)).toBe(true);
      expect(readFileSync(join(parent, "pids.max"), "utf8")).toBe("5\n");
    } finally {
      rmdirSync(parent);
    }
  });
});
