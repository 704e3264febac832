/** Whatever the container does, every verb ends: its file systems, its processes, its filter, its terminal. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { AT_ONCE_MS, appears, heedsTerm, isAlive, type Running, useBackground } from "../support/background.ts";
import { mountDead } from "../support/dead-fuse.ts";
import { isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { PATIENCE_MS } from "../support/patience.ts";

describe.skipIf(!isRoot || !isRunt)("waits for a container that does not answer (needs root)", () => {
  const harness = useHarness();
  const { bundle, directory, id, ok, root, until } = harness;
  const { begin, timed, exists, initOf, running } = useBackground(harness);

  describe("a FUSE file system that does not answer", () => {
    const dead = (pid: number, target: string): Promise<void> => mountDead(begin, directory, pid, target);
    const document = (destination: string): string => {
      const source = join(directory, "source");
      mkdirSync(source, { recursive: true });
      const path = join(directory, `mounts-${Math.random().toString(36).slice(2)}.json`);
      writeFileSync(path, JSON.stringify({ mounts: [{ destination, type: "bind", source, options: ["bind"] }] }));
      return path;
    };

    test("below the target of mounts add: no other verb waits", async () => {
      const name = await running();
      await dead(await initOf(name), "/var");
      const adding = begin(["mounts", "add", name, document("/var/x/y")]);
      await sleep(800);
      expect(adding.process.exitCode).toBe(null);
      for (const verb of ["pause", "resume"]) {
        const ended = await timed([verb, name]);
        expect(ended.status).toBe(0);
        expect(ended.milliseconds).toBeLessThan(AT_ONCE_MS);
      }
      const deleted = await timed(["delete", "--force", name]);
      expect(deleted).toMatchObject({ status: 0, stderr: "" });
      expect(deleted.milliseconds).toBeLessThan(AT_ONCE_MS);
      expect(await adding.ended).toMatchObject({ status: 1, stderr: "runt: mounts add: container not running" });
    });

    test("TERM ends mounts add and exec", async () => {
      const name = await running();
      await dead(await initOf(name), "/var");
      const adding = begin(["mounts", "add", name, document("/var/x/y")]);
      const executing = begin(["exec", "--cwd", "/var/x", name, "true"]);
      await heedsTerm(executing);
      await sleep(800);
      adding.process.kill("SIGTERM");
      executing.process.kill("SIGTERM");
      expect((await adding.ended).status).toBe(null);
      expect(await executing.ended).toMatchObject({ status: 143, stderr: "runt: exec failed: TERM: ended before the program began" });
    });

    test("processes that cannot be stopped: TERM ends pause, and the container goes on", async () => {
      const name = await running();
      const init = await initOf(name);
      await dead(init, "/var");
      // One holds the lock of the directory, and the other one waits for that without being interruptible.
      for (const file of ["x", "y"]) begin(["exec", name, "sh", "-c", `: > /var/${file}`]);
      const stateOf = (pid: number) => /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      const stuck = async () => {
        const pids: number[] = JSON.parse(await ok(["ps", "-f", "json", name]));
        return pids.filter((pid) => pid !== init && stateOf(pid) === "D").length;
      };
      await expect.poll(stuck).toBe(2);
      const pausing = begin(["pause", name]);
      await heedsTerm(pausing);
      pausing.process.kill("SIGTERM");
      const ended = await pausing.ended;
      expect(ended).toMatchObject({ status: 143, stderr: "runt: TERM: the container is not paused" });
      expect(ended.milliseconds).toBeLessThan(AT_ONCE_MS);
      expect(JSON.parse(await ok(["state", name])).status).toBe("running");
      expect(await ok(["exec", name, "echo", "goes on"])).toBe("goes on\n");
      expect(await timed(["delete", "--force", name])).toMatchObject({ status: 0, stderr: "" });
    });

    test("exec --timeout bounds what comes before the program, not the program", async () => {
      const name = await running();
      await dead(await initOf(name), "/var");
      const late = await timed(["exec", "--timeout", "700ms", "--cwd", "/var/x", name, "true"]);
      expect(late).toMatchObject({ status: 255, stderr: expect.stringContaining("did not begin within 700ms (--timeout)") });
      expect(late.milliseconds).toBeGreaterThan(600);
      expect(late.milliseconds).toBeLessThan(AT_ONCE_MS);
      expect(await timed(["exec", "--timeout", "3s", name, "sh", "-c", "sleep 4; exit 7"])).toMatchObject({ status: 7, stderr: "" });
      expect(await timed(["exec", "--timeout", "soon", name, "true"])).toMatchObject({
        status: 255,
        stderr: expect.stringContaining("-timeout"),
      });
    });

    test("as a mount source: TERM ends run", async () => {
      const source = join(directory, "dead-source");
      mkdirSync(source, { recursive: true });
      const marker = join(directory, "dead-marker");
      const script = `exec 3<>/dev/fuse; mount -i -t fuse dead "$1" -o fd=3,rootmode=40000,user_id=0,group_id=0 || exit 1; : > "$2"; exec sleep 1000`;
      const server = begin(["-c", script, "bash", source, marker], ["bash"]);
      try {
        await appears(marker);
        const name = id();
        const path = bundle((config) => {
          config.mounts.push({ destination: "/dead", type: "bind", source: join(source, "below"), options: ["bind"] });
        });
        const creating = begin(["run", "-b", path, name]);
        await heedsTerm(creating);
        await sleep(800);
        creating.process.kill("SIGTERM");
        expect((await creating.ended).status).toBe(143);
        expect(exists(name)).toBe(false);
      } finally {
        server.process.kill("SIGKILL");
        await server.ended;
        execFileSync("umount", ["-l", source]);
      }
    });
  });

  describe("a process that stops whatever comes into its pid namespace", () => {
    /** It sees and may signal everything in its namespace. */
    const STOPPER = `while :; do for p in /proc/[0-9]*; do p=\${p#/proc/}; [ $p -gt 1 ] && [ $p != $$ ] && kill -STOP $p; done; done 2> /dev/null`;

    /** Its program was stopped, not what becomes the program: as long as that is stopped, exec lasts. */
    const hasBegun = ({ pid }: Running) => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[1] === "monitor";

    /** An exec that was not quicker than the other. */
    const caught = async (name: string) => {
      for (;;) {
        const executing = begin(["exec", name, "true"]);
        if ((await Promise.race([executing.ended, sleep(1_000, undefined)])) !== undefined) continue;
        if (!hasBegun(executing)) return executing;
        executing.process.kill("SIGKILL");
      }
    };

    test("exec gives up after ten seconds, and kills what it has sent; TERM ends it before", async () => {
      const name = await running((config) => shell(config, STOPPER));
      const early = await caught(name);
      const executing = await caught(name);
      early.process.kill("SIGTERM");
      expect((await early.ended).status).toBe(143);
      const ended = await executing.ended;
      expect(ended).toMatchObject({
        status: 255,
        stderr: expect.stringMatching(/exec failed: process \d+, which becomes the program, was stopped \(SIGSTOP\) for 10 s/),
      });
      expect(ended.milliseconds).toBeLessThan(PATIENCE_MS);
      expect(isAlive(Number(/process (\d+)/.exec(ended.stderr)![1]))).toBe(false);
    });
  });

  describe("a container that stays frozen", () => {
    test("exec --ignore-paused ends by --timeout and TERM, without waiting for a death that comes with the thaw", async () => {
      const name = await running();
      await ok(["pause", name]);
      const before = Date.now();
      const words = ["exec", "--ignore-paused"];
      const late = begin([...words, "--timeout", "500ms", name, "true"]);
      const ended = begin([...words, name, "true"]);
      await heedsTerm(ended);
      await sleep(500);
      ended.process.kill("SIGTERM");
      // The processes that were sent in hold their stderr.
      const statuses = () => [late.process.exitCode, ended.process.exitCode];
      await expect.poll(statuses).toEqual([255, 143]);
      expect(Date.now() - before).toBeLessThan(AT_ONCE_MS);
      await ok(["resume", name]);
      await expect.poll(async () => JSON.parse(await ok(["ps", "-f", "json", name])).length).toBe(1);
      expect((await late.ended).stderr).toContain("did not begin within 500ms");
    });
  });

  describe("a seccomp filter that lets init not even end", () => {
    const FILTERS = [
      ["SCMP_ACT_ERRNO", {}],
      ["SCMP_ACT_ERRNO", { defaultErrnoRet: 4 }],
      ["SCMP_ACT_ERRNO", { defaultErrnoRet: 0 }],
      ["SCMP_ACT_TRACE", {}],
      ["SCMP_ACT_TRAP", {}],
      ["SCMP_ACT_KILL_THREAD", {}],
      ["SCMP_ACT_KILL_PROCESS", {}],
    ] as const;

    test.each(FILTERS)("%s %o: run says so at once", async (defaultAction, more) => {
      const name = id();
      const path = bundle((config) => {
        shell(config, ":");
        config.linux.seccomp = { defaultAction, ...more };
      });
      const ended = await timed(["run", "-b", path, name]);
      expect(ended).toMatchObject({ status: 1, stderr: expect.stringContaining("the filter must allow execve") });
      expect(ended.milliseconds).toBeLessThan(AT_ONCE_MS);
      expect(exists(name)).toBe(false);
    });

    test.each(FILTERS)("%s %o: start ends, and the container is stopped", async (defaultAction, more) => {
      const name = id();
      const path = bundle((config) => {
        shell(config, ":");
        config.linux.seccomp = { defaultAction, ...more };
      });
      await ok(["create", "-b", path, name]);
      expect((await timed(["start", name])).milliseconds).toBeLessThan(AT_ONCE_MS);
      await until(name, "stopped");
      await ok(["delete", name]);
    });
  });

  describe("a terminal in the foreground that the caller does not have", () => {
    /** Without a controlling terminal either. */
    const apart = (words: readonly string[]) => begin(words, ["setsid", "-w", RUNTIME, "--root", root]).ended;

    test("run refuses it at once and makes nothing", async () => {
      const name = id();
      const path = bundle((config) => {
        config.process.terminal = true;
        shell(config, "cat");
      });
      const ended = await apart(["run", "-b", path, name]);
      expect(ended).toMatchObject({ status: 1, stderr: expect.stringContaining("none of stdin, stdout and stderr is a terminal") });
      expect(exists(name)).toBe(false);
    });

    test("so does exec --tty", async () => {
      const name = await running();
      expect(await apart(["exec", "-t", name, "cat"])).toMatchObject({
        status: 255,
        stderr: expect.stringContaining("none of stdin, stdout and stderr is a terminal"),
      });
    });
  });
});
