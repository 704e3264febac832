/** Rootful Podman with runt as its runtime, by either cgroup manager. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { cgroupOf, isUnified, readLimit } from "../../support/cgroups.ts";
import { call, RUNTIME, useHarness } from "../../support/harness.ts";
import { sharedRootfs } from "../../support/programs.ts";

const MIB = 1024 * 1024;
const MEMORY = { v1: "memory.limit_in_bytes", v2: "memory.max" };
const PIDS = { v1: "pids.max", v2: "pids.max" };

describe.each(["cgroupfs", "systemd"])("Podman with --cgroup-manager=%s", (manager) => {
  const { directory } = useHarness();
  const rootfs = join(directory, "podman-rootfs");
  const name = `podman-${manager}`;

  // Podman writes into it.
  beforeAll(() => {
    execFileSync("cp", ["-ax", sharedRootfs(), rootfs]);
  });

  async function podman(...args: readonly string[]): Promise<string> {
    const places = ["--root", join(directory, "graph"), "--runroot", join(directory, "run"), "--storage-driver", "vfs"];
    const global = [...places, "--events-backend", "file", "--runtime", RUNTIME, "--cgroup-manager", manager];
    const result = await call(directory, ["podman", ...global, ...args]);
    if (result.status !== 0) throw new Error(`podman ${args.join(" ")}: status ${result.status}: ${result.stderr}`);
    return result.stdout;
  }

  const run = (options: readonly string[], ...command: readonly string[]) =>
    podman("run", "--network", "none", "--log-driver", "k8s-file", ...options, "--rootfs", rootfs, ...command);

  test("output and status of a container", async () => {
    expect(await run(["--rm"], "echo", "from inside")).toBe("from inside\n");
    await expect(run(["--rm"], "sh", "-c", "exit 7")).rejects.toThrow("status 7");
  });

  test("a life: limits, exec, update, pause, stop, rm", async () => {
    await run(["-d", "--name", name, "--memory", "64m", "--pids-limit", "50"], "sh", "-c", "trap 'exit 0' TERM; sleep 1000 & wait");
    const [id = "", pid = ""] = (await podman("inspect", "--format", "{{.Id}} {{.State.Pid}}", name)).trim().split(" ");
    const cgroup = cgroupOf(pid, "memory");
    const scope = `libpod-${id}.scope`;
    expect(cgroup).toContain(manager === "systemd" ? `/machine.slice/${scope}` : `/libpod_parent/libpod-${id}`);
    if (manager === "systemd") expect(execFileSync("systemctl", ["is-active", scope], { encoding: "utf8" })).toBe("active\n");
    expect([readLimit(pid, MEMORY), readLimit(pid, PIDS)]).toEqual([String(64 * MIB), "50"]);
    expect(await podman("exec", name, "cat", "/proc/self/cgroup")).toContain(isUnified ? "0::/" : `:memory:`);
    await podman("update", "--memory", "96m", name);
    expect(readLimit(pid, MEMORY)).toBe(String(96 * MIB));
    await podman("pause", name);
    expect(await podman("ps", "--format", "{{.Status}}", "--filter", "status=paused")).toMatch(/paused/i);
    await podman("unpause", name);
    await podman("stop", "-t", "60", name);
    expect((await podman("inspect", "--format", "{{.State.Status}} {{.State.ExitCode}}", name)).trim()).toBe("exited 0");
    await podman("rm", name);
    expect(existsSync(cgroup)).toBe(false);
    if (manager === "systemd") {
      const units = execFileSync("systemctl", ["list-units", "--all", "--plain", "--no-legend", scope], { encoding: "utf8" });
      expect(units).toBe("");
    }
  });
});
