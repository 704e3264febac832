/**
 * SIGKILL of any process of a pod in a machine, or of runt's own, at any moment between `create` and the end ends what hangs on it, and leaves nothing
 * that `delete --force` does not remove. Each kind of process in turn: RUNT_VM_KILLS says how many times each, RUNT_VM_SEED at which moments.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { useHarness } from "../support/harness.ts";
import { hostTraces } from "../support/leaks.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { random } from "../support/random.ts";
import { isThere, type Machine, machineMissing, pidOf, programsIn, stayingBundle, VM, VM_TIMEOUT, WITH_IMAGE } from "../support/vm.ts";
import { memberOf } from "../support/vm-pod.ts";

const missing = machineMissing();
const VERB = "the verb";
const MEMBER = "the container that has joined";
const FURTHER = "a further process";
const KINDS = [VERB, "the monitor", "what has booted it", "qemu-system-x86", "virtiofsd", MEMBER, FURTHER] as const;
type Kind = (typeof KINDS)[number];
const TIMES = Number(process.env["RUNT_VM_KILLS"] ?? 1);
const SEED = Number(process.env["RUNT_VM_SEED"] ?? 1);
const ROUNDS = TIMES * KINDS.length;
const LOOK_MS = 5;

type Planned = Omit<Machine, "pid"> & { readonly cgroup: string };

describe.skipIf(missing !== undefined)(`a killed machine${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT * ROUNDS }, () => {
  const harness = useHarness();
  const { id, ok, root, runtime } = harness;

  function planned(change: Parameters<typeof stayingBundle>[2] = () => {}): Planned {
    let cgroup = "";
    const found = stayingBundle(harness, id(), (config) => {
      change(config);
      cgroup = config.linux.cgroupsPath;
    });
    return { ...found, cgroup };
  }

  /** Every process of the machine that there is now. */
  function processes(pod: Planned, member: Planned | undefined): ReadonlyMap<Kind, number> {
    const found = new Map<Kind, number>();
    const monitor = existsSync(join(pod.bundle, "pid")) ? pidOf(pod.bundle) : 0;
    for (const [name, pid] of programsIn(pod.cgroup)) {
      if (name === "qemu-system-x86" || name === "virtiofsd") found.set(name, pid);
      else if (name === "machine-boot") found.set("what has booted it", pid);
      else if (name === "machine-join") found.set(FURTHER, pid);
    }
    if (monitor > 0 && isThere(monitor)) found.set("the monitor", monitor);
    const joined = member && existsSync(join(member.bundle, "pid")) ? pidOf(member.bundle) : 0;
    if (joined > 0 && isThere(joined)) found.set(MEMBER, joined);
    return found;
  }

  /** A sandbox and a container that joins it are made and started, with further processes. `told`: each process of runt, and the second bundle. Whatever fails, it goes on. */
  async function life(pod: Planned, told: (verb: number | undefined, member?: Planned) => void): Promise<Planned | undefined> {
    const call = (args: readonly string[]) => runtime(args, { ...WITH_IMAGE, started: ({ pid }) => told(pid) });
    const make = async ({ bundle, name }: Planned): Promise<void> => {
      await call(["create", ...VM, "--pid-file", join(bundle, "pid"), "-b", bundle, name]);
      await call(["start", name]);
    };
    await make(pod);
    if (!existsSync(join(pod.bundle, "pid"))) return undefined;
    const member = planned(memberOf({ ...pod, pid: pidOf(pod.bundle) }));
    told(undefined, member);
    await make(member);
    for (const { name } of [pod, member, pod]) await call(["exec", name, "/bin/sh", "-c", "echo from; sleep 0.2"]);
    return member;
  }

  test(`leaves nothing, ${TIMES} times each (seed ${SEED})`, async () => {
    const below = random(SEED);
    const before = hostTraces(harness.directory);
    const began = performance.now();
    const first = planned();
    const second = await life(first, () => {});
    for (const each of [first, second!]) await ok(["delete", "--force", each.name]);
    const span = Math.ceil(performance.now() - began);
    const missed: Kind[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const kind = KINDS[round % KINDS.length]!;
      const pod = planned();
      let verb: number | undefined;
      let member: Planned | undefined;
      let isOver = false;
      const living = life(pod, (pid, joined) => {
        verb = pid;
        member ??= joined;
      }).then(() => {
        isOver = true;
      });
      await sleep(below(span));
      const pidOfKind = (): number => (kind === VERB ? verb : processes(pod, member).get(kind)) ?? 0;
      while (!isOver && !isThere(pidOfKind())) await sleep(LOOK_MS);
      const all = processes(pod, member);
      const pid = kind === VERB ? (verb ?? 0) : (all.get(kind) ?? 0);
      if (pid > 0 && isThere(pid)) process.kill(pid, "SIGKILL");
      else missed.push(kind);
      await living;
      const message = `after the end of ${kind} in round ${round}`;
      // Each process of a machine takes the others with it, at start if not before; a container that has joined only its own, and a further process itself.
      const isAlone = kind === VERB || kind === MEMBER || kind === FURTHER;
      const rest = () => (pid === 0 || isAlone ? [] : [...all].filter(([, each]) => isThere(each)));
      await expect.poll(rest, { timeout: PATIENCE_MS, message }).toEqual([]);
      if ((kind === MEMBER || kind === FURTHER) && pid > 0) expect(isThere(all.get("the monitor") ?? 0), message).toBe(true);
      const made = [pod, ...(member ? [member] : [])];
      for (const { name } of round % 2 === 0 ? made : made.reverse()) await ok(["delete", "--force", name]);
      expect(readdirSync(root)).toEqual([]);
      const left = () => [...hostTraces(harness.directory)].filter((trace) => !before.has(trace));
      await expect.poll(left, { timeout: PATIENCE_MS, message }).toEqual([]);
    }
    // A moment between two verbs, or after the last.
    expect(missed.length).toBeLessThan(ROUNDS / 2);
  });
});
