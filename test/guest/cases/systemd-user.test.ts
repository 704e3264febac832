/** The systemd driver of a user without rights: the user's own manager makes the cgroups. */
import { execFile } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { cgroupOf, isUnified, readLimit } from "../../support/cgroups.ts";
import { call, type Result, RUNTIME, shell, useHarness } from "../../support/harness.ts";
import { systemctl, systemdRuns } from "../../support/systemd.ts";

const run = promisify(execFile);
const MIB = 1024 * 1024;
/** Made with the guest's image. */
const USER = { name: "guest", id: 1000 };
const RUNTIME_DIRECTORY = `/run/user/${USER.id}`;
const MEMORY = { v1: "", v2: "memory.max" };
const PIDS = { v1: "", v2: "pids.max" };
const isThere = systemdRuns && readFileSync("/etc/passwd", "utf8").includes(`\n${USER.name}:x:${USER.id}:`);

describe.skipIf(!isThere)("the systemd driver of a user (needs systemd and the guest's user)", () => {
  const { bundle, directory, id } = useHarness();
  const state = join(directory, "user");

  beforeAll(async () => {
    await run("loginctl", ["enable-linger", USER.name]);
    await vi.waitUntil(() => existsSync(`${RUNTIME_DIRECTORY}/systemd/private`) && existsSync(`${RUNTIME_DIRECTORY}/bus`), 50_000);
    mkdirSync(state);
    chownSync(state, USER.id, USER.id);
    chmodSync(directory, 0o755);
  });

  afterAll(async () => {
    rmSync(state, { recursive: true, force: true });
    await run("loginctl", ["disable-linger", USER.name]);
    await systemctl("stop", `user@${USER.id}.service`);
  });

  /** Outside of what the user's manager has been given, as a login session is; or inside, as what the manager has started is. */
  const command = (words: readonly string[], { inside = false, env = [] as readonly string[] } = {}): Promise<Result> =>
    call(directory, [
      ...["setpriv", `--reuid=${USER.id}`, `--regid=${USER.id}`, "--init-groups", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
      ...[`XDG_RUNTIME_DIR=${RUNTIME_DIRECTORY}`, ...env, ...(inside ? ["systemd-run", "--user", "--scope", "--quiet"] : []), ...words],
    ]);
  const runtime = (args: readonly string[], options?: Parameters<typeof command>[1]) =>
    command([RUNTIME, "--root", state, ...args], options);

  async function ok(args: readonly string[], options?: Parameters<typeof command>[1]): Promise<string> {
    const result = await runtime(args, options);
    if (result.status !== 0) throw new Error(`${args.join(" ")}: status ${result.status}: ${result.stderr || result.stdout}`);
    return result.stdout;
  }

  const prepared = () =>
    bundle((config) => {
      shell(config, "sleep 1000");
      const own = [{ containerID: 0, hostID: USER.id, size: 1 }];
      Object.assign(config.linux, { uidMappings: own, gidMappings: own, resources: { memory: { limit: 64 * MIB }, pids: { limit: 32 } } });
      config.linux.cgroupsPath = "";
      config.linux.namespaces = [...config.linux.namespaces.filter(({ type }) => type !== "cgroup"), { type: "user" }, { type: "cgroup" }];
      for (const mount of config.mounts) mount.options = (mount.options ?? []).filter((option) => !option.startsWith("gid="));
      config.process.rlimits = [];
    });

  test.runIf(!isUnified)("on cgroup v1 it is refused", async () => {
    const result = await runtime(["--systemd-cgroup", "create", "-b", prepared(), id()]);
    expect([result.status, result.stderr]).toEqual([1, "runt: cannot use rootless systemd cgroups manager on cgroup v1\n"]);
  });

  test.runIf(isUnified).each([
    ["by the manager's own socket", []],
    ["where XDG_RUNTIME_DIR is not set", ["-u", "XDG_RUNTIME_DIR"]],
  ])("a life, %s", async (_, unset) => {
    const name = id();
    const unit = `runt-${name}.scope`;
    const env = unset.length > 0 ? ["env", ...unset] : [];
    const userctl = async (...args: readonly string[]) => (await command(["systemctl", "--user", ...args])).stdout.trim();
    await ok(["--systemd-cgroup", "create", "-b", prepared(), name], { env });
    const { pid } = JSON.parse(await ok(["state", name]));
    const directoryOf = (of: number) => cgroupOf(of, "memory");
    expect(directoryOf(pid)).toBe(`/sys/fs/cgroup/user.slice/user-${USER.id}.slice/user@${USER.id}.service/user.slice/${unit}`);
    expect([MEMORY, PIDS].map((file) => readLimit(pid, file))).toEqual([String(64 * MIB), "32"]);
    expect(await userctl("show", unit, "--property=MemoryMax", "--value")).toBe(String(64 * MIB));
    await ok(["start", name]);
    // Only systemd may move a process of a session into the manager's cgroups.
    await ok(["exec", "-d", name, "sleep", "901"], { env });
    await ok(["exec", "-d", name, "sleep", "902"], { inside: true });
    const processes = readFileSync(`${directoryOf(pid)}/cgroup.procs`, "utf8")
      .trim()
      .split("\n");
    expect(processes).toHaveLength(3);
    await ok(["update", "--memory", "96m", name], { env });
    expect(readLimit(pid, MEMORY)).toBe(String(96 * MIB));
    expect(await userctl("show", unit, "--property=MemoryMax", "--value")).toBe(String(96 * MIB));
    const cgroup = directoryOf(pid);
    await ok(["delete", "--force", name], { env });
    expect(existsSync(cgroup)).toBe(false);
    expect(await userctl("list-units", "--all", "--plain", "--no-legend", unit)).toBe("");
  });

  test.runIf(isUnified)("by the session's bus", async () => {
    const name = id();
    // Without the manager's own socket, as in a container that has the bus alone.
    const elsewhere = join(state, "runtime");
    mkdirSync(elsewhere);
    chownSync(elsewhere, USER.id, USER.id);
    const env = [`XDG_RUNTIME_DIR=${elsewhere}`, `DBUS_SESSION_BUS_ADDRESS=unix:path=${RUNTIME_DIRECTORY}/bus`];
    await ok(["--systemd-cgroup", "create", "-b", prepared(), name], { env });
    expect(JSON.parse(readFileSync(join(state, name, "state.json"), "utf8")).cgroup.systemd).toEqual({
      unit: `runt-${name}.scope`,
      socket: `${RUNTIME_DIRECTORY}/bus`,
      direct: false,
    });
    await ok(["delete", "--force", name], { env });
  });

  test.runIf(isUnified)("without a manager", async () => {
    const result = await runtime(["--systemd-cgroup", "create", "-b", prepared(), id()], { env: ["XDG_RUNTIME_DIR=/nonexistent"] });
    expect(result.status).toBe(1);
    expect(result.stderr).toContain("cannot reach the user's systemd: /nonexistent/systemd/private: no such file or directory");
    expect(result.stderr).toContain("loginctl enable-linger");
  });
});
