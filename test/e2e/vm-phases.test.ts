/**
 * The hypervisor or the file server ends, or stands still, while a machine is set up or a container joins it: create fails in bounded time with the
 * reason, and nothing is left.
 */
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { type CallOptions, type Result, useHarness } from "../support/harness.ts";
import { hostTraces } from "../support/leaks.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { isThere, machineMissing, programs, programsIn, stayingBundle, VM, VM_CONFIG, VM_TIMEOUT, WITH_IMAGE } from "../support/vm.ts";
import { memberOf, sandbox } from "../support/vm-pod.ts";

const missing = machineMissing();
const KNOWN = "/run/runt-vm/known.json";
const PROGRAMS = { "qemu-system-x86": "the hypervisor", virtiofsd: "virtiofsd" } as const;
type Program = keyof typeof PROGRAMS;
/** A kernel that boots by itself says nothing of how far it is. */
const INTO_THE_BOOT_MS = 1500;
const LOOK_MS = 2;

describe.skipIf(missing !== undefined)(`a machine that breaks on the way${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT }, () => {
  const harness = useHarness();
  const { id, ok, root, runtime } = harness;
  let seconds: number;
  let settings: string;

  /** A machine boots in that time here, by what the last one took. */
  beforeEach(async () => {
    if (!existsSync(KNOWN)) {
      const { bundle, name } = stayingBundle(harness, id());
      await ok(["create", ...VM, "-b", bundle, name], WITH_IMAGE);
      await ok(["delete", "--force", name]);
    }
    const { bootMilliseconds } = JSON.parse(readFileSync(KNOWN, "utf8")) as { bootMilliseconds: number };
    seconds = Math.ceil((3 * bootMilliseconds) / 1000) + 5;
    settings = join(harness.directory, "vm.json");
    writeFileSync(settings, JSON.stringify({ ...JSON.parse(readFileSync(VM_CONFIG, "utf8")), bootSeconds: seconds }));
  });

  /** Returns when it is so, or undefined when create has ended before. */
  async function until<T>(creating: ChildProcess, look: () => T | undefined): Promise<T | undefined> {
    for (;;) {
      const found = look();
      if (found !== undefined || creating.exitCode !== null || creating.signalCode !== null) return found;
      await sleep(LOOK_MS);
    }
  }

  /** `strike` gets create's process when it runs. */
  async function failing(
    bundle: string,
    name: string,
    strike: (creating: ChildProcess) => Promise<void>,
  ): Promise<Result & { took: number }> {
    let striking = Promise.resolve();
    const options: CallOptions = {
      env: { RUNT_VM_CONFIG: settings },
      started: (creating) => {
        striking = strike(creating);
      },
    };
    const began = performance.now();
    const result = await runtime(["create", ...VM, "-b", bundle, name], options);
    await striking;
    return { ...result, took: (performance.now() - began) / 1000 };
  }

  function reason(program: Program, signal: "SIGKILL" | "SIGSTOP"): RegExp {
    if (signal === "SIGKILL") return new RegExp(`runt: machine: .*${PROGRAMS[program]} has ended with status 137`);
    return new RegExp(`runt: machine: the guest (?:does not answer|has not made the container) after ${seconds} seconds`);
  }

  const PHASES = ["before the boot", "in the boot", "after the hello"] as const;
  const cases = PHASES.flatMap((phase) =>
    (["SIGKILL", "SIGSTOP"] as const).flatMap((signal) =>
      (["qemu-system-x86", "virtiofsd"] as const).map((program) => [program, signal, phase] as const),
    ),
  );
  test.each(cases)("%s by %s %s", async (program, signal, phase) => {
    const before = hostTraces(harness.directory);
    const name = id();
    let cgroup = "";
    const { bundle } = stayingBundle(harness, name, (config) => {
      cgroup = config.linux.cgroupsPath;
    });
    const known = statSync(KNOWN).mtimeMs;
    let struck = 0;
    const { status, stderr, took } = await failing(bundle, name, async (creating) => {
      const pid = await until(creating, () => programsIn(cgroup).get(program));
      if (phase === "in the boot") await sleep(INTO_THE_BOOT_MS);
      if (phase === "after the hello") await until(creating, () => (statSync(KNOWN).mtimeMs === known ? undefined : true));
      struck = pid ?? 0;
      if (pid !== undefined && isThere(pid)) process.kill(pid, signal);
    });
    expect(struck).toBeGreaterThan(0);
    expect(stderr).toMatch(reason(program, signal));
    expect(status).toBe(1);
    expect(took).toBeLessThan(2 * seconds + 10);
    expect(isThere(struck)).toBe(false);
    expect(existsSync(join(root, name))).toBe(false);
    const left = () => [...hostTraces(harness.directory)].filter((trace) => !before.has(trace));
    await expect.poll(left, { timeout: PATIENCE_MS }).toEqual([]);
  });

  test.each<[Program, "SIGKILL" | "SIGSTOP"]>([
    ["qemu-system-x86", "SIGKILL"],
    ["virtiofsd", "SIGKILL"],
    ["qemu-system-x86", "SIGSTOP"],
    ["virtiofsd", "SIGSTOP"],
  ])("%s by %s while a container joins; one that goes on serves the pod as before", async (program, signal) => {
    const pod = await sandbox(harness);
    const all = programs(pod);
    const pid = all.get(program)!;
    const name = id();
    const { bundle } = stayingBundle(harness, name, memberOf(pod));
    const joins = () => (readFileSync(`/proc/${pod.pid}/mountinfo`, "utf8").includes(`joined-${name}`) ? true : undefined);
    const { status, stderr, took } = await failing(bundle, name, async (creating) => {
      await until(creating, joins);
      process.kill(pid, signal);
    });
    // With the machine the container's process on the host ends.
    const ended = /container init died before it was ready|runt: machine: it has (?:ended|not made)/;
    const silent = new RegExp(`runt: machine: it has not made the container after ${seconds} seconds, or has ended`);
    expect(stderr).toMatch(signal === "SIGKILL" ? ended : silent);
    expect(status).toBe(1);
    // `delete`, which create does last, gives the machine half a minute.
    expect(took).toBeLessThan(2 * seconds + 40);
    expect(existsSync(join(root, name))).toBe(false);
    if (signal === "SIGSTOP") {
      expect(joins()).toBeUndefined();
      process.kill(pid, "SIGCONT");
      expect(await ok(["exec", pod.name, "/bin/echo", "still"])).toBe("still\n");
      await ok(["create", ...VM, "-b", bundle, name], WITH_IMAGE);
      await ok(["start", name]);
      expect(await ok(["exec", name, "/bin/echo", "made"])).toBe("made\n");
      await ok(["delete", "--force", name]);
    }
    await ok(["delete", "--force", pod.name]);
    for (const [each, one] of all) expect(isThere(one), each).toBe(false);
  });
});
