/** Records of another boot: the same pid and start ticks may be another process then. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Executor } from "../../src/executor/index.ts";
import { isGone, isRoot, REPOSITORY, statusOf, useExecutors } from "./support.ts";

const OTHER_BOOT = "00000000-0000-4000-8000-000000000000\n";

describe.skipIf(!isRoot)("executor: another boot (needs root)", () => {
  const { directory, executor, script, stateDir } = useExecutors();

  /** The final state that a process sees which takes this for another boot. */
  function waitInOtherBoot(states: string, id: string): unknown {
    const boot = join(directory, "boot_id");
    writeFileSync(boot, OTHER_BOOT);
    const text = execFileSync(
      "unshare",
      [
        ...["-m", "--propagation", "private", "sh", "-c", 'mount --bind "$1" /proc/sys/kernel/random/boot_id && shift && exec "$@"', "sh"],
        ...[boot, process.execPath, "--import", "tsx", join(REPOSITORY, "test/library/programs/wait.ts"), states, id],
      ],
      { cwd: REPOSITORY, encoding: "utf8" },
    );
    return JSON.parse(text);
  }

  /** What a state directory has after a reboot: the same files, and nothing of the processes that they name. */
  function copied(id: string): string {
    const states = join(directory, `after-${id}`);
    mkdirSync(join(states, "@runtime"), { recursive: true });
    for (const name of [id, `@runtime/${id}`])
      cpSync(join(stateDir, name), join(states, name), { recursive: true, filter: (path) => !path.endsWith("exec.fifo") });
    return states;
  }

  test.each(["launch", "create"] as const)(
    "after %s: the live process of the same pid and start ticks is not this one, and is left alone",
    async (verb) => {
      const one = executor();
      const { pid, bootId } = await one[verb](script("exec sleep 1000"));
      expect(`${bootId}\n`).toBe(readFileSync("/proc/sys/kernel/random/boot_id", "utf8"));
      const description = JSON.parse(readFileSync(join(stateDir, one.id, "executor.json"), "utf8"));
      expect(description).toMatchObject({ protocol: { major: 1, minor: 2 }, bootId });
      const states = copied(one.id);
      expect(waitInOtherBoot(states, one.id)).toMatchObject({ pid, exitCode: null, unknown: true, unknownCause: "host-rebooted" });
      expect(existsSync(join(states, "@runtime", one.id))).toBe(false);
      expect(isGone(pid)).toBe(false);
      expect(statusOf(stateDir, one.id).pid).toBe(pid);
    },
  );

  test("an end that was recorded before the reboot is known after it", async () => {
    const one = executor();
    await one.launch(script("exit 4"));
    await one.wait();
    expect(waitInOtherBoot(stateDir, one.id)).toMatchObject({ exitCode: 4, unknown: false });
  });

  test("a record without a boot id is of this boot", async () => {
    const one = executor();
    await one.launch(script("exec sleep 1000"));
    const path = join(stateDir, one.id, "executor.json");
    const { bootId: _, ...old } = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...old, protocol: { major: 1, minor: 0 } }));
    expect((await Executor.adopt({ stateDir, id: one.id })).state).toBe("running");
  });
});
