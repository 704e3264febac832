/** A container that is paused in the machine of its pod: by halves, and at the end of the machine. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cgroupFile } from "../support/cgroups.ts";
import { call, RUNTIME, useHarness } from "../support/harness.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { isThere, type Machine, machineMissing, programs, VM_TIMEOUT } from "../support/vm.ts";
import { member, sandbox } from "../support/vm-pod.ts";

const missing = machineMissing();

describe.skipIf(missing !== undefined)(
  `a paused container of a pod in a machine${missing ? ` (${missing})` : ""}`,
  { timeout: VM_TIMEOUT },
  () => {
    const harness = useHarness();
    const { ok, root, runtime, until } = harness;

    const sizeOf = ({ marks }: Machine): number => {
      const path = join(marks, "count");
      return existsSync(path) ? readFileSync(path, "utf8").length : 0;
    };
    const grows = async (each: Machine): Promise<void> => {
      const before = sizeOf(each);
      await expect.poll(() => sizeOf(each), { timeout: PATIENCE_MS }).toBeGreaterThan(before);
    };
    const counting = ({ name }: Machine) =>
      ok(["exec", name, "/bin/sh", "-c", "while :; do echo >>/marks/count; sleep 0.2; done >/dev/null 2>&1 & sleep 0.5"]);

    test.each(["delete", "kill", "kill --all"])("holds up no end of its machine: %s", async (verb) => {
      const pod = await sandbox(harness);
      const one = await member(harness, pod);
      const all = programs(pod);
      await ok(["pause", one.name]);
      await until(one.name, "paused");
      if (verb === "delete") await ok(["delete", "--force", pod.name]);
      else {
        await ok([...verb.split(" "), pod.name, "KILL"]);
        await until(pod.name, "stopped");
        await ok(["delete", pod.name]);
      }
      await until(one.name, "stopped");
      for (const [program, pid] of all) expect(isThere(pid), program).toBe(false);
      await ok(["delete", one.name]);
    });

    test("goes on where the host's freezer refuses, and a pause that was cut short is undone by resume, or done by pause", async () => {
      const pod = await sandbox(harness);
      const one = await member(harness, pod);
      await counting(one);
      await grows(one);
      const file = cgroupFile(one.pid, { v1: "freezer.state", v2: "cgroup.freeze" });
      const readOnly = `mount --bind ${file} ${file} && mount -o remount,bind,ro ${file} && exec "$@"`;
      const refused = await call(harness.directory, [
        ...["unshare", "--mount", "--propagation", "private", "sh", "-c", readOnly, "sh"],
        ...[RUNTIME, "--root", root, "pause", one.name],
      ]);
      expect(refused.stderr).toContain("read-only file system");
      expect(refused.status).toBe(1);
      expect(JSON.parse(await ok(["state", one.name]))).toMatchObject({ status: "running" });
      await grows(one);
      expect((await runtime(["resume", one.name])).stderr).toContain("container not paused");
      await grows(one);

      // As a pause leaves it that was killed between the guest and the host: only in the guest.
      const pausedInGuest = async (): Promise<void> => {
        await ok(["pause", one.name]);
        const { version } = JSON.parse(readFileSync(join(root, one.name, "state.json"), "utf8")).cgroup as { version: 1 | 2 };
        await call(harness.directory, ["sh", "-c", `echo ${version === 1 ? "THAWED" : "0"} >${file}`]);
        await until(one.name, "running");
      };
      const stands = async (): Promise<void> => {
        const before = sizeOf(one);
        await grows(pod);
        await grows(pod);
        expect(sizeOf(one)).toBe(before);
      };
      await counting(pod);
      await pausedInGuest();
      await stands();
      await ok(["resume", one.name]);
      await grows(one);
      await pausedInGuest();
      await ok(["pause", one.name]);
      await until(one.name, "paused");
      await stands();
      await ok(["resume", one.name]);
      await grows(one);
    });
  },
);
