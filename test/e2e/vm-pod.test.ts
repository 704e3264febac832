/** Several containers in one machine: the first boots it, the others join it by the namespaces of the first one's process. */
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { shell, useHarness } from "../support/harness.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { copiedRootfs } from "../support/programs.ts";
import { isThere, type Machine, machineMissing, programs, VM, VM_TIMEOUT, WITH_IMAGE } from "../support/vm.ts";
import { type Change, member as makeMember, sandbox as makeSandbox, memberOf } from "../support/vm-pod.ts";

const missing = machineMissing();

describe.skipIf(missing !== undefined)(`a pod in a machine${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT }, () => {
  const harness = useHarness();
  const { id, ok, runtime, until } = harness;

  const sandbox = (): Promise<Machine> => makeSandbox(harness);
  const member = (pod: Machine, change?: Change): Promise<Machine> => makeMember(harness, pod, change);
  const sh = ({ name }: Machine, command: string) => ok(["exec", name, "/bin/sh", "-c", command]);

  test("has one machine, whose kernel, network, ipc, host name and shared memory its containers share, and not their roots", async () => {
    const pod = await sandbox();
    const place = join(harness.directory, "second");
    mkdirSync(place);
    const file = join(harness.directory, "file");
    writeFileSync(file, "of the host\n");
    const one = await member(pod, (config) => {
      config.root = { path: copiedRootfs(place), readonly: true };
      config.mounts.push({ destination: "/new/file", type: "bind", source: file, options: ["bind", "ro"] });
      config.linux.resources = { memory: { limit: 32 * 1024 ** 2 } };
    });
    const two = await member(pod);
    expect([...programs(pod).keys()].sort()).toEqual(["qemu-system-x86", "runt", "virtiofsd"]);
    expect(readlinkSync(`/proc/${one.pid}/ns/net`)).toBe(readlinkSync(`/proc/${pod.pid}/ns/net`));

    const links = "readlink /proc/self/ns/net /proc/self/ns/ipc /proc/self/ns/uts; cat /proc/sys/kernel/random/boot_id; hostname";
    const seen = await sh(pod, links);
    expect(seen).toContain("the-pod");
    expect(await sh(one, links)).toBe(seen);
    expect(await sh(two, links)).toBe(seen);
    expect(await sh(one, "readlink /proc/self/ns/pid")).not.toBe(await sh(two, "readlink /proc/self/ns/pid"));
    await sh(one, "echo together >/dev/shm/word");
    expect(await sh(two, "cat /dev/shm/word")).toBe("together\n");

    expect(await sh(one, "cat /new/file; ls /marks")).toBe("of the host\nup\n");
    expect((await runtime(["exec", one.name, "/bin/sh", "-c", "touch /x"])).status).not.toBe(0);
    await sh(two, "echo two >/marks/written");
    expect(readFileSync(join(two.marks, "written"), "utf8")).toBe("two\n");
    // Killed for memory within its limit; the others go on.
    expect((await runtime(["exec", one.name, "/bin/sh", "-c", "tail /dev/zero"])).status).toBe(137);
    await ok(["update", "--memory", String(24 * 1024 ** 2), one.name]);
    const { data } = JSON.parse(await ok(["events", "--stats", one.name])) as { data: { memory: { usage: { limit: number } } } };
    expect(data.memory.usage.limit).toBe(24 * 1024 ** 2);

    await ok(["kill", one.name, "TERM"]);
    await until(one.name, "stopped");
    await ok(["delete", one.name]);
    // Nothing of it is held: neither by the guest nor by the file server.
    const server = programs(pod).get("virtiofsd")!;
    const held = () => [readFileSync(`/proc/${server}/mountinfo`, "utf8"), ...descriptors(server)].join("\n");
    await expect.poll(held).not.toContain(`joined-${one.name}`);
    expect(await sh(two, "echo still")).toBe("still\n");

    await ok(["kill", pod.name, "KILL"]);
    await until(two.name, "stopped");
    expect(isThere(two.pid)).toBe(false);
    await until(pod.name, "stopped");
    await ok(["delete", two.name]);
    await ok(["delete", pod.name]);
  });

  test("shares its processes where that is asked for, and a container that is killed takes all of its own along", async () => {
    const pod = await sandbox();
    const one = await member(pod, memberOf(pod, ["network", "ipc", "uts", "pid"]));
    await sh(one, "sleep 4321 & echo");
    expect(await sh(pod, "ps")).toContain("sleep 4321");
    await ok(["kill", one.name, "KILL"]);
    await until(one.name, "stopped");
    await expect.poll(() => sh(pod, "ps")).not.toContain("sleep 4321");
    await ok(["delete", one.name]);
  });

  test("is paused, signalled and listed with all its processes in the guest, and the others of the pod go on", async () => {
    const pod = await sandbox();
    const one = await member(pod);
    const counting = (file: string): string => `trap 'echo hup >>/marks/hup' HUP; while :; do echo >>/marks/${file}; sleep 0.2; done`;
    for (const each of [pod, one]) await sh(each, `sh -c "${counting("left")}" >/dev/null 2>&1 & sleep 0.5`);
    const size = (file: string, { marks }: Machine): number => {
      const path = join(marks, file);
      return existsSync(path) ? readFileSync(path, "utf8").length : 0;
    };
    const grows = async (each: Machine): Promise<void> => {
      const before = size("left", each);
      await expect.poll(() => size("left", each), { timeout: PATIENCE_MS }).toBeGreaterThan(before);
    };
    await grows(one);
    expect(await ok(["ps", one.name])).toMatch(/^UID +PID .* CMD\n(?:.*\n)*.*left/);

    await ok(["pause", one.name]);
    await until(one.name, "paused");
    const still = size("left", one);
    await grows(pod);
    await grows(pod);
    expect(size("left", one)).toBe(still);
    await ok(["resume", one.name]);
    await grows(one);

    // The program of `one` itself has no handler of its own for it, and ignores it.
    await ok(["kill", "--all", one.name, "HUP"]);
    await expect.poll(() => size("hup", one), { timeout: PATIENCE_MS }).toBe("hup\n".length);
    expect(size("hup", pod)).toBe(0);

    await ok(["pause", one.name]);
    await ok(["delete", "--force", one.name]);
    await expect.poll(() => sh(pod, "ps"), { timeout: PATIENCE_MS }).not.toContain(one.name);
    await grows(pod);
    await ok(["kill", "--all", pod.name, "HUP"]);
    await expect.poll(() => size("hup", pod), { timeout: PATIENCE_MS }).toBe("hup\n".length);
  });

  test("has each container's streams and status, and what cannot be made fails create", async () => {
    const pod = await sandbox();
    const bundle = harness.bundle((config) => {
      memberOf(pod)(config);
      shell(config, 'read line; echo "$line"; echo wrong >&2; exit 7');
    });
    const run = await runtime(["run", ...VM, "-b", bundle, id()], { ...WITH_IMAGE, input: "hello\n" });
    expect(run).toEqual({ status: 7, stdout: "hello\n", stderr: "wrong\n" });

    const without = harness.bundle((config) => {
      memberOf(pod)(config);
      config.process.args = ["/nothing"];
    });
    const failed = await runtime(["create", ...VM, "-b", without, id()], WITH_IMAGE);
    expect(failed.stderr).toContain('exec: "/nothing": stat /nothing: no such file or directory');
    const mounts = readFileSync(`/proc/${programs(pod).get("virtiofsd")}/mountinfo`, "utf8");
    expect(mounts).not.toContain("joined-");

    const large = harness.bundle((config) => {
      memberOf(pod)(config);
      config.linux.resources = { memory: { limit: 1024 ** 3 } };
    });
    const tooLarge = await runtime(["create", ...VM, "-b", large, id()], WITH_IMAGE);
    expect(tooLarge.stderr).toContain("the machine of its sandbox has 160 MiB for containers");
    await ok(["delete", "--force", pod.name]);
    const late = await runtime(["create", ...VM, "-b", bundle, id()], WITH_IMAGE);
    expect(late.stderr).toContain("its sandbox pod has no machine that runs");
  });
});

function descriptors(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return "";
    }
  });
}
