/**
 * SIGKILL of any process of a machine, or of runt's own, at any moment between `create` and the end ends the others, and leaves nothing that
 * `delete --force` does not remove. RUNT_VM_KILLS says how often, RUNT_VM_SEED at which moments.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { useHarness } from "../support/harness.ts";
import { hostTraces } from "../support/leaks.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { random } from "../support/random.ts";
import { isThere, type Machine, machineMissing, pidOf, programs, stayingBundle, VM, VM_TIMEOUT, WITH_IMAGE } from "../support/vm.ts";

const missing = machineMissing();
const VERB = "the verb";
const ROUNDS = Number(process.env["RUNT_VM_KILLS"] ?? 6);
const SEED = Number(process.env["RUNT_VM_SEED"] ?? 1);

describe.skipIf(missing !== undefined)(`a killed machine${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT * ROUNDS }, () => {
  const harness = useHarness();
  const { id, ok, root, runtime } = harness;

  /** Every process that there is now, by what it is. */
  function victims(bundle: string, verb: number | undefined): (readonly [what: string, pid: number])[] {
    const found: [string, number][] = [];
    if (verb !== undefined && isThere(verb)) found.push([VERB, verb]);
    const pid = existsSync(join(bundle, "pid")) ? pidOf(bundle) : 0;
    if (pid === 0 || !isThere(pid)) return found;
    try {
      return [...found, ["the monitor", pid], ...programs({ pid })];
    } catch {
      // It has just ended.
      return found;
    }
  }

  /** Create, start and five further processes, one after the other. `verb` is told each process of runt. Whatever fails, it goes on. */
  async function life({ name, bundle }: Omit<Machine, "pid">, verb: (pid: number | undefined) => void): Promise<void> {
    const call = (args: readonly string[]) => runtime(args, { ...WITH_IMAGE, started: ({ pid }) => verb(pid) });
    await call(["create", ...VM, "--pid-file", join(bundle, "pid"), "-b", bundle, name]);
    await call(["start", name]);
    for (let count = 0; count < 5; count++) await call(["exec", name, "/bin/sh", "-c", "echo from; sleep 0.2"]);
  }

  test(`leaves nothing, ${ROUNDS} times (seed ${SEED})`, async () => {
    const below = random(SEED);
    const before = hostTraces(harness.directory);
    const began = performance.now();
    const whole = stayingBundle(harness, id());
    await life(whole, () => {});
    await ok(["delete", "--force", whole.name]);
    const span = Math.ceil(performance.now() - began);
    const struck: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const container = stayingBundle(harness, id());
      let verb: number | undefined;
      const living = life(container, (pid) => {
        verb = pid;
      });
      await sleep(below(span));
      const all = victims(container.bundle, verb);
      const [what, pid] = all[below(all.length)] ?? ["nobody", 0];
      if (pid !== 0 && isThere(pid)) process.kill(pid, "SIGKILL");
      struck.push(what);
      await living;
      // Each process of a machine takes the others with it, at start if not before.
      const rest = () => (what === "nobody" || what === VERB ? [] : all.filter(([other, each]) => other !== VERB && isThere(each)));
      await expect.poll(rest, { timeout: PATIENCE_MS, message: `after the end of ${what} in round ${round}` }).toEqual([]);
      await ok(["delete", "--force", container.name]);
      expect(readdirSync(root)).toEqual([]);
      const left = () => [...hostTraces(harness.directory)].filter((trace) => !before.has(trace));
      await expect.poll(left, { timeout: PATIENCE_MS, message: `after the end of ${what} in round ${round}` }).toEqual([]);
    }
    expect(struck.some((what) => what !== "nobody")).toBe(true);
  });
});
