/** What a daemon has begun acts no more once the next one is there (law 1). The kernel's cgroups are the witness. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { ContainerRuntime, type FollowedEnd } from "../../src/engine/run/containers/runtime.ts";
import type { Fence } from "../../src/executor/index.ts";
import { directoryOfProcess, groupingHierarchy } from "../../src/executor/process/cgroups.ts";
import { REPOSITORY } from "../support/programs.ts";
import { http, identityOf, isRoot, LONGEST_MS, scriptTask, until, useEngine } from "./support.ts";

describe.skipIf(!isRoot)("the fence (needs root)", () => {
  const scene = useEngine();
  const apply = async (text: string) => expect((await http(scene.socket, "POST", "/v1/apply", { text })).status).toBe(200);
  /** "effects/KEY.EPOCH" or "monitors": below the parent of the tasks. */
  const groupOf = (pid: number) => /\/(effects\/[\w-]+\.\d+|monitors)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.[1];
  const isThere = (identity: string) => {
    try {
      return (
        identityOf(Number(identity.split(":")[0])) === identity &&
        !/^State:\tZ/m.test(readFileSync(`/proc/${identity.split(":")[0]}/status`, "utf8"))
      );
    } catch {
      return false;
    }
  };
  const monitors = () => {
    const executors = join(scene.stateDir, "executors");
    return readdirSync(executors)
      .map((id) => join(executors, id, "record.json"))
      .filter((path) => existsSync(path))
      .map((path) => JSON.parse(readFileSync(path, "utf8")).monitor.pid as number);
  };
  const processesThat = (holds: (pid: number) => boolean) =>
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        try {
          return holds(Number(name)) ? [identityOf(Number(name))] : [];
        } catch {
          return []; // It has ended since.
        }
      });
  /** Everything in the daemon's cgroup but itself. */
  const effectsOf = (daemon: number) => processesThat((pid) => pid !== daemon && groupOf(pid) === groupOf(daemon));
  /** What execs have started in containers of this test. */
  const execsInside = () => {
    const ids = scene.list().map(({ id }) => id);
    return processesThat((pid) => {
      const text = readFileSync(`/proc/${pid}/cgroup`, "utf8");
      return /\/exec-[0-9a-f-]{36}$/m.test(text) && ids.some((id) => text.includes(`/${id}/`));
    });
  };

  const parentOf = (identity: string) => {
    const stat = readFileSync(`/proc/${identity.split(":")[0]}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")")).split(" ")[2]);
  };

  test(
    "what a killed daemon was doing is ended before the next one says that it is ready, in containers, too; containers, monitors and pumps go on",
    async () => {
      const first = await scene.daemon();
      // A health check that does not end is an effect that takes as long as one likes.
      const check = "healthCheck: { command: [/bin/sleep, '1000'], timeout: 1000s }";
      await apply(scriptTask(scene.rootfs(), { name: "web", script: "exec sleep 1000", container: `stopSignal: SIGKILL\n    ${check}` }));
      await until(
        () =>
          effectsOf(first.pid).length > 0 &&
          scene.list()[0]?.status === "running" &&
          monitors().every((pid) => groupOf(pid) === "monitors"),
      );
      // Not those that are over at once, as the look at who has connected.
      let effects: string[] = [];
      await until(async () => {
        const seen = effectsOf(first.pid);
        await sleep(1000);
        // A pump is not ended either: it is its monitor's child.
        effects = seen.filter((one) => isThere(one) && !monitors().includes(parentOf(one)));
        return effects.length > 0;
      });
      const container = identityOf(scene.list()[0]!.pid);
      const keepers = monitors().map(identityOf);
      const inside = execsInside();
      expect(inside).toHaveLength(1);
      await first.kill();
      expect(inside.map(isThere)).toEqual([true]);
      expect(effects.map(isThere)).toEqual(effects.map(() => true));

      const second = await scene.daemon();
      expect(effects.map(isThere)).toEqual(effects.map(() => false));
      // Nobody would bound its time any more.
      expect(inside.map(isThere)).toEqual([false]);
      expect([identityOf(scene.list()[0]!.pid), monitors().map(identityOf)]).toEqual([container, keepers]);
      expect(monitors().map(groupOf)).toEqual(["monitors"]);
      expect(second.log()).toMatch(/"restored","step":"fence","ended":[1-9]/);
      expect(second.log()).toMatch(/"restored","step":"containers",.*"execs":1\b/);
      // It is in its own, and the old one is gone.
      expect(groupOf(second.pid)).toMatch(/\.2$/);
      expect(existsSync(`/proc/${first.pid}`)).toBe(false);
      expect((await scene.ctl("delete", "web")).status).toBe(0);
      expect(keepers.map(isThere)).toEqual([false]);
    },
    LONGEST_MS,
  );

  test(
    "a monitor that had not left yet when its daemon was killed is let out by the next one, and its container goes on",
    async () => {
      const first = await scene.daemon();
      await apply(scriptTask(scene.rootfs(), { name: "web", script: "exec sleep 1000", container: "stopSignal: SIGKILL" }));
      await until(() => scene.list()[0]?.status === "running" && monitors().every((pid) => groupOf(pid) === "monitors"));
      const effects = directoryOfProcess(first.pid, groupingHierarchy()!.controller)!;
      const [monitor] = monitors();
      const keepers = processesThat((pid) => pid === monitor || parentOf(identityOf(pid)) === monitor)
        .map((identity) => Number(identity.split(":")[0]))
        .filter((pid) => groupOf(pid) === "monitors");
      const container = identityOf(scene.list()[0]!.pid);
      await first.kill();
      // As if the daemon had been killed between the start and the move.
      for (const pid of keepers) writeFileSync(join(effects, "cgroup.procs"), String(pid));
      const identities = keepers.map(identityOf);
      await scene.daemon();
      expect([identityOf(scene.list()[0]!.pid), identities.map(isThere)]).toEqual([container, keepers.map(() => true)]);
      expect(keepers.map(groupOf)).toEqual(keepers.map(() => "monitors"));
      expect((await scene.ctl("delete", "web")).status).toBe(0);
    },
    LONGEST_MS,
  );

  test("a launch does not wait until its monitor has left", async () => {
    const stateDir = join(scene.directory, "runtime");
    const slow = { release: () => new Promise(() => {}) } as unknown as Fence;
    const ended = new Promise<unknown>((resolve) => {
      const runtime = new ContainerRuntime({
        stateDir,
        memoryDir: join(stateDir, "memory"),
        binary: join(REPOSITORY, "bin/runt"),
        launchTimeoutMs: 60_000,
        cgroupOf: () => ({ parent: "/any", isUnique: false }),
        fence: slow,
        log: () => {},
      });
      const end: FollowedEnd = {
        onExit: ({ exitCode }) => void runtime.remove("one").then(() => resolve(["one", exitCode])),
        onLost: resolve,
      };
      const launched = runtime.launch("one", { rootfs: scene.rootfs(), cmd: "/bin/true" });
      launched.then(() => runtime.follow("one", end), resolve);
    });
    expect(await ended).toEqual(["one", 0]);
  });

  test(
    "a daemon that ends in order leaves no cgroup of its own, and another one on the host is not touched",
    async () => {
      const other = scene.spawn({ stateDir: join(scene.directory, "other"), runDir: join(scene.directory, "other-run") });
      await until(() => /"ready"/.test(other.log()));
      const first = await scene.daemon();
      const group = groupOf(first.pid)!;
      process.kill(first.pid, "SIGTERM");
      expect(await first.ended).toBe(0);
      await scene.daemon();
      expect(isThere(identityOf(other.pid))).toBe(true);
      expect(group).not.toBe(groupOf(other.pid));
      await other.kill();
    },
    LONGEST_MS,
  );
});
