/** `create` boots the machine and makes the container in it; what goes wrong until then fails `create`. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { shell, useHarness } from "../support/harness.ts";
import { copiedRootfs } from "../support/programs.ts";
import { isThere, machineMissing, pidOf, programs, stayingBundle, untilUp, VM, VM_CONFIG, VM_TIMEOUT, WITH_IMAGE } from "../support/vm.ts";

const missing = machineMissing();

describe.skipIf(missing !== undefined)(`create in a machine${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT }, () => {
  const harness = useHarness();
  const { id, ok, runtime, until } = harness;

  /** A container that is made. Its stderr is in `errors`. */
  async function created() {
    const name = id();
    const { bundle, marks } = stayingBundle(harness, name);
    let errors = "";
    await ok(["create", ...VM, "--pid-file", join(bundle, "pid"), "-b", bundle, name], {
      ...WITH_IMAGE,
      started: (_, output) => {
        errors = output.replace(/out$/, "err");
      },
    });
    const pid = pidOf(bundle);
    return { name, marks, pid, errors, all: programs({ pid }) };
  }

  test("boots it; the program waits for start, and exec is there at once", async () => {
    const { name, marks, pid, all } = await created();
    expect([...all.keys()].sort()).toEqual(["qemu-system-x86", "runt", "virtiofsd"]);
    expect(JSON.parse(await ok(["state", name]))).toMatchObject({ status: "created", pid });
    expect(readdirSync(marks)).toEqual([]);
    await ok(["start", name]);
    expect(await ok(["exec", name, "/bin/echo", "beside"])).toBe("beside\n");
    await untilUp({ pid, marks });
    for (const flags of [[], ["--detach"]]) {
      const { status, stderr } = await runtime(["exec", ...flags, name, "/nothing"]);
      expect(stderr).toMatch(
        /^runt: exec failed: unable to start container process: exec: "\/nothing": stat \/nothing: no such file or directory/,
      );
      expect(status).toBe(255);
    }
    await ok(["kill", name, "TERM"]);
    await until(name, "stopped");
    for (const [program, each] of all) expect(isThere(each), program).toBe(false);
  });

  test("has KVM only where that boots a guest, and check says which it was and how long a boot took", async () => {
    await created();
    const known = JSON.parse(readFileSync("/run/runt-vm/known.json", "utf8")) as { accelerator: string; bootMilliseconds: number };
    const { machines } = JSON.parse(await ok(["check", "-f", "json"])) as { machines: object };
    expect(machines).toEqual({ accelerator: known.accelerator, bootMilliseconds: known.bootMilliseconds });
    expect(await ok(["check"])).toMatch(/KVM +(?:software emulation; )?the last machine booted in \d+\.\d s/);
    // A machine that is there to try it has said a byte with KVM, or has not within its limit.
    if (!existsSync("/dev/kvm")) expect(known.accelerator).toBe("tcg");
    // From the second machine on it is known before.
    const name = id();
    const { bundle } = stayingBundle(harness, name);
    const log = join(harness.directory, "log");
    await ok(["--debug", "--log", log, "create", ...VM, "-b", bundle, name], WITH_IMAGE);
    const warned = /the machine runs by software emulation, which is slow: (?:the host has no|KVM has not booted)/.test(
      readFileSync(log, "utf8"),
    );
    expect(warned).toBe(known.accelerator === "tcg");
  });

  test("is kept by a process that has few of root's rights, and a filter", async () => {
    const { all } = await created();
    const status = readFileSync(`/proc/${all.get("runt")}/status`, "utf8");
    // CAP_KILL: the hypervisor has another user.
    for (const set of ["CapPrm", "CapEff", "CapBnd"]) expect(status).toMatch(new RegExp(`^${set}:\\s+0{14}20$`, "m"));
    for (const set of ["CapInh", "CapAmb"]) expect(status).toMatch(new RegExp(`^${set}:\\s+0+$`, "m"));
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
  });

  test("leaves nothing of a machine whose container is killed before its start", async () => {
    const { name, all } = await created();
    await ok(["kill", name, "KILL"]);
    await until(name, "stopped");
    for (const [program, each] of all) expect(isThere(each), program).toBe(false);
  });

  test.each(["kill", "delete"])("ends by %s while it is paused, and leaves nothing", async (verb) => {
    const { name, all } = await created();
    await ok(["start", name]);
    await ok(["pause", name]);
    await until(name, "paused");
    if (verb === "kill") {
      await ok(["kill", name, "KILL"]);
      await until(name, "stopped");
      await ok(["delete", name]);
    } else await ok(["delete", "--force", name]);
    for (const [program, each] of all) expect(isThere(each), program).toBe(false);
  });

  test("is stopped with the reason where the machine has broken before its start", async () => {
    const { name, all, errors } = await created();
    process.kill(all.get("virtiofsd")!, "SIGKILL");
    await until(name, "stopped");
    expect((await runtime(["start", name])).stderr).toContain("cannot start a container that has stopped");
    expect(readFileSync(errors, "utf8")).toContain("runt: machine: virtiofsd has ended with status 137");
    for (const [program, each] of all) expect(isThere(each), program).toBe(false);
  });

  test.each<[string, object, RegExp]>([
    ["the hypervisor does not run", { hypervisor: "/bin/false" }, /runt: machine: the hypervisor has ended with status 1/],
    ["the file server does not run", { virtiofsd: "/bin/false" }, /virtiofsd has ended with status 1/],
    ["there is no such hypervisor", { hypervisor: "/nothing" }, /\/nothing.*no such file or directory/],
    ["the guest is too slow", { bootSeconds: 1 }, /runt: machine: the guest does not answer after 1 seconds/],
  ])("fails with the reason where %s, and leaves nothing", async (_, change, words) => {
    const settings = join(harness.directory, "vm.json");
    writeFileSync(settings, JSON.stringify({ ...JSON.parse(readFileSync(VM_CONFIG, "utf8")), ...change }));
    const name = id();
    const { bundle } = stayingBundle(harness, name);
    const { status, stderr } = await runtime(["create", ...VM, "-b", bundle, name], { env: { RUNT_VM_CONFIG: settings } });
    expect(stderr).toMatch(words);
    expect(status).toBe(1);
    expect(existsSync(join(harness.root, name))).toBe(false);
  });

  test("fails with the words of the runt in the guest where the program is missing", async () => {
    const name = id();
    const { bundle } = stayingBundle(harness, name, (config) => {
      config.process.args = ["/nothing"];
    });
    const { status, stderr } = await runtime(["create", ...VM, "-b", bundle, name], WITH_IMAGE);
    expect(stderr).toContain('exec: "/nothing": stat /nothing: no such file or directory');
    expect(status).toBe(1);
  });

  test("makes the missing mount points of a read-only root, which the guest cannot write", async () => {
    const place = join(harness.directory, "read-only");
    mkdirSync(place);
    const rootfs = copiedRootfs(place);
    const from = join(harness.directory, "file");
    writeFileSync(from, "of the host\n");
    const bundle = harness.bundle((config) => {
      shell(config, "cat /new/file; touch /new/tmpfs/x && echo made; touch /x");
      config.root = { path: rootfs, readonly: true };
      config.mounts.push({ destination: "/new/file", type: "bind", source: from, options: ["bind"] });
      config.mounts.push({ destination: "/new/tmpfs", type: "tmpfs", source: "tmpfs" });
    });
    const { stdout, stderr } = await runtime(["run", ...VM, "-b", bundle, id()], WITH_IMAGE);
    expect(stdout).toBe("of the host\nmade\n");
    expect(stderr).toContain("Read-only file system");
    expect(readdirSync(join(rootfs, "new")).sort()).toEqual(["file", "tmpfs"]);
  });
});
