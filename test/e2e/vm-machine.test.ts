/** `runt machine`: what it shows of a machine, and that nothing which a hostile guest says gets further than it may. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { RUNTIME, shell, useHarness } from "../support/harness.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { isThere, machineMissing, programs, staying, VM, VM_TIMEOUT, WITH_IMAGE } from "../support/vm.ts";
import { member, sandbox } from "../support/vm-pod.ts";

const SHELL = "/usr/bin/busybox";
const missing = machineMissing() ?? (existsSync(SHELL) ? undefined : "the package busybox-static is not installed");

describe.skipIf(missing !== undefined)(`looking into a machine${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT }, () => {
  const harness = useHarness();
  const { bundle, id, ok, root, runtime } = harness;
  const inGuest = (name: string, script: string) => runtime(["machine", "exec-shell", name, "--", "-c", script]);

  test("list shows the machine of a pod with its containers, and metrics, console and a shell show its guest", async () => {
    const pod = await sandbox(harness);
    const { name } = await member(harness, pod);
    const [facts, ...others] = JSON.parse(await ok(["machine", "list", "--format", "json"]));
    expect(others).toEqual([]);
    expect(facts).toMatchObject({ id: pod.name, state: "running", cpus: 1, memoryMiB: 256, containers: [pod.name, name] });
    expect(facts.kernel).toMatch(/-cloud-amd64$/);
    expect(facts.uptime).toBeLessThan(PATIENCE_MS / 1000);
    const hypervisor = programs(pod).get("qemu-system-x86");
    expect(facts.processes).toContainEqual({ pid: hypervisor, name: "qemu-system-x86" });
    expect(facts.processes.map((each: { name: string }) => each.name).sort()).toEqual(
      ["machine-boot", "machine-join", "machine-monitor", "qemu-system-x86", "virtiofsd"].sort(),
    );
    const [heading, line] = (await ok(["machine", "list"])).split("\n");
    expect(heading).toMatch(/^ID +STATE +PIDS +CPUS +MEMORY +KERNEL +UPTIME +CONTAINERS$/);
    expect(line).toMatch(new RegExp(`^${pod.name} +running +[\\d,]+ +1 +256MiB +\\S+ +\\d+s +${pod.name},${name}$`));

    const metrics = await ok(["machine", "metrics", name]);
    expect(metrics).toContain(`runt_machine_guest_up{machine="${name}"} 1\n`);
    const number = (metric: string) => Number(new RegExp(`^${metric} (\\S+)$`, "m").exec(metrics)?.[1]);
    expect(number(`runt_machine_guest_memory_total_bytes{machine="${name}"}`)).toBeLessThan(256 * 1024 ** 2);
    expect(number(`runt_machine_guest_memory_available_bytes{machine="${name}"}`)).toBeGreaterThan(1024 ** 2);
    expect(number(`runt_machine_guest_cpu_seconds_total{machine="${name}",mode="system"}`)).toBeGreaterThan(0);
    expect(await ok(["machine", "metrics"])).toContain(`runt_machine_guest_up{machine="${pod.name}"} 1\n`);

    // All processes of the guest, its kernel's log, and the network of the pod.
    const seen = await inGuest(name, "cat /proc/1/cmdline; echo; ls /sys/fs/cgroup; hostname; exit 3");
    expect(seen).toMatchObject({ status: 3, stderr: "" });
    expect(seen.stdout).toMatch(/^\/runt/);
    expect(seen.stdout).toContain("container\n");
    expect(seen.stdout).toContain(`joined-${name}\n`);
    // The program is the host's.
    expect((await inGuest(pod.name, "echo no >/bin/sh")).status).not.toBe(0);
    expect((await inGuest(pod.name, "chmod 777 /proc/1/root/share/shell-*/volume-0")).status).not.toBe(0);
    const left = "for each in /proc/1/root/run/runt/shell-* /proc/1/root/joined/shell-*; do ls -d $each; done | wc -l";
    // Those of this shell itself.
    await expect.poll(async () => (await inGuest(pod.name, left)).stdout, { timeout: PATIENCE_MS }).toBe("2\n");

    const print = "echo '<0>one line' >/dev/kmsg; printf '<0>\\033]0;title\\007\\n' >/dev/kmsg";
    expect(await inGuest(pod.name, print)).toEqual({ status: 0, stdout: "", stderr: "" });
    const shown = await ok(["machine", "console", name]);
    expect(shown).toMatch(/one line\n.*\\x1b\]0;title\\x07\n/);
    expect(shown).not.toContain("\x1b");

    await ok(["pause", pod.name]);
    for (const verb of ["console", "exec-shell", "metrics"]) {
      expect((await runtime(["machine", verb, pod.name])).stderr).toMatch(/paused/);
    }
    expect(await ok(["machine", "metrics"])).toContain(`runt_machine_guest_up{machine="${pod.name}"} 0\n`);
    await ok(["resume", pod.name]);
  });

  test("the console follows until the end, whose reason has the last words of the guest's kernel", async () => {
    const name = id();
    const crash = bundle((config) => {
      shell(config, "read line; echo c >/proc/sysrq-trigger; sleep 60");
      config.linux.readonlyPaths = [];
    });
    const run = spawn(RUNTIME, ["--root", root, "run", ...VM, "-b", crash, name], { env: { ...process.env, ...WITH_IMAGE.env } });
    let said = "";
    run.stderr.on("data", (data) => {
      said += String(data);
    });
    const ended = once(run, "close");
    await harness.until(name, "running");
    const console = runtime(["machine", "console", "--follow", name]);
    // The console is being followed when the guest's kernel gives up.
    await expect.poll(async () => (await runtime(["machine", "console", name])).status, { timeout: PATIENCE_MS }).toBe(0);
    run.stdin.end("go\n");
    expect(await ended).toEqual([125, null]);
    expect(said).toMatch(/^runt: machine: .*the guest's kernel has given up.*; the end of the guest's console:$/m);
    expect(said).toMatch(/^ {2}\| .*Kernel panic - not syncing: sysrq triggered crash$/m);
    expect((await console).stdout).toContain("Kernel panic - not syncing");
  });

  /** The guest's runt becomes this script. */
  const instead = async (name: string, script: string) => {
    const install = "cd /proc/1/root; mkdir -p bin; cp /bin/sh bin/sh; cat >next; chmod 755 next; mv next runt";
    const made = await runtime(["machine", "exec-shell", name, "--", "-c", install], { input: `#!/bin/sh\n${script}\n` });
    expect(made).toMatchObject({ status: 0, stderr: "" });
  };
  const samples = async (name: string) =>
    (await ok(["machine", "metrics", name])).split("\n").filter((line) => line !== "" && !line.startsWith("#"));

  test("a guest that lies changes nothing but its own numbers", async () => {
    const { name, pid } = await staying(harness);
    const lie = { uptime_seconds: 1, 'x"} 1\nrunt_machine_guest_up{machine="other"}': 1, forks_total: "2", memory_free_bytes: -1 };
    await instead(name, `echo '${JSON.stringify(lie)}'`);
    const [up, uptime] = ["up", "uptime_seconds"].map((metric) => `runt_machine_guest_${metric}{machine="${name}"} 1`);
    expect(await samples(name)).toEqual([up, uptime]);
    expect(isThere(pid)).toBe(true);
  });

  test("a guest that sends without an end, and then nothing, is given up", async () => {
    const { name, pid } = await staying(harness);
    await instead(name, "[ -e /quiet ] && exec sleep 600\n>/quiet\nexec yes '{\"uptime_seconds\":1'");
    for (let round = 0; round < 2; round++) expect(await samples(name)).toEqual([`runt_machine_guest_up{machine="${name}"} 0`]);
    expect(isThere(pid)).toBe(true);
  });

  test("a container on the host has no machine, and a shell has to be a program below /usr", async () => {
    const name = id();
    await ok(["run", "--detach", "-b", bundle((config) => shell(config, "sleep 60")), name]);
    for (const verb of ["console", "metrics", "exec-shell"]) {
      expect((await runtime(["machine", verb, name])).stderr).toContain(`the container ${name} is in no machine`);
    }
    expect(await ok(["machine", "list", "-f", "json"])).toBe("[]\n");
    const machine = await staying(harness);
    for (const program of ["/usr/bin/none", "/proc/self/exe", "/share/root/bin/busybox", "/usr"]) {
      const { status, stderr } = await runtime(["machine", "exec-shell", "--shell", program, machine.name]);
      expect(status, program).toBe(255);
      expect(stderr).toContain(`${program}: a shell for a machine has to be a static program below /usr of this host`);
    }
  });
});
