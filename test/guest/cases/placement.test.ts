/** How processes get into the container's cgroup: cloned into it where the kernel can do that, so that no moment outside is seen. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cgroupOf, isUnified } from "../../support/cgroups.ts";
import { call, RUNTIME, shell, useHarness } from "../../support/harness.ts";

describe("placement", () => {
  const { bundle, directory, id, ok, root } = useHarness();

  const staying = () => bundle((config) => shell(config, "sleep 1000"));

  async function traced(args: readonly string[]): Promise<string> {
    const file = join(directory, `trace-${Math.random()}`);
    const command = ["strace", "-f", "-e", "trace=clone3,openat,write", "-o", file, RUNTIME, "--root", root, ...args];
    expect(await call(directory, command)).toMatchObject({ status: 0, stderr: "" });
    return readFileSync(file, "utf8");
  }

  test.runIf(isUnified)("init is cloned into its cgroup and written nowhere", async () => {
    const trace = await traced(["run", "-b", bundle((config) => shell(config, "true")), id()]);
    expect(trace).toMatch(/clone3\(\{flags=[A-Z_|]*CLONE_INTO_CGROUP.*cgroup=\d+/);
    expect(trace).not.toContain("cgroup.procs");
  });

  test("exec's process is where init is", async () => {
    const name = id();
    await ok(["run", "-d", "-b", staying(), name]);
    const { pid } = JSON.parse(await ok(["state", name]));
    const pidFile = join(directory, "exec.pid");
    await ok(["exec", "-d", "--pid-file", pidFile, name, "sleep", "1000"]);
    const other = readFileSync(pidFile, "utf8");
    expect(cgroupOf(other, "memory")).toBe(cgroupOf(pid, "memory"));
    expect(other).not.toBe(String(pid));
  });

  test.runIf(isUnified)(
    "exec into a container whose init has gone to a cgroup below, which leaves its own without a place for processes",
    async () => {
      const name = id();
      const path = bundle((config) => {
        const move = "cd /sys/fs/cgroup && mkdir init && echo 1 >init/cgroup.procs && echo +memory >cgroup.subtree_control";
        shell(config, `${move} && echo moved >/tmp/moved; exec sleep 1000`);
        config.root.readonly = false;
        config.linux.namespaces = [...config.linux.namespaces.filter(({ type }) => type !== "cgroup"), { type: "cgroup" }];
        config.mounts.push(
          { destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["nosuid", "noexec", "nodev", "rw"] },
          { destination: "/tmp", type: "tmpfs", source: "tmpfs" },
        );
        config.linux.resources = { memory: { limit: 64 * 1024 * 1024 } };
      });
      await ok(["run", "-d", "-b", path, name]);
      const { pid } = JSON.parse(await ok(["state", name]));
      await expect.poll(() => cgroupOf(pid, "memory"), { timeout: 10_000 }).toMatch(/\/init$/);
      expect(await ok(["exec", name, "cat", "/proc/self/cgroup"])).toBe("0::/init\n");
    },
  );
});
