/** Logs of tasks: nothing lost whoever is killed, read by whoever may, over rotation and restart. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SLOW } from "../support/harness.ts";
import { logRecords, printed } from "../support/log-file.ts";
import { REPOSITORY } from "../support/programs.ts";
import { RUNTCTL } from "./client-programs.ts";
import { http, isRoot, scriptTask, until, useEngine } from "./support.ts";

const RUNT = join(REPOSITORY, "bin/runt");

interface Container {
  readonly name: string;
  readonly id: string;
  readonly known: string;
  readonly generation: number;
  readonly log: string;
}

describe.skipIf(!isRoot)("logs (needs root)", () => {
  const scene = useEngine();
  const read = () => join(scene.directory, "run/read.sock");
  const containers = async (): Promise<readonly Container[]> => JSON.parse((await http(read(), "GET", "/v1/tasks/web")).text).containers;
  const task = (script: string, rest = "", name = "app") => `
  - name: ${name}
    rootfs: ${scene.rootfs()}
    command: /bin/sh
    args: ["-c", ${JSON.stringify(script)}]
    stopTimeout: 1s${rest}`;
  const apply = async (...containers: string[]) => {
    const answer = await scene.ctl("apply", "-f", scene.file("web.yaml", `name: web\ncontainers:${containers.join("")}\n`));
    expect(answer).toMatchObject({ status: 0 });
  };
  const logs = (query = "") => http(read(), "GET", `/v1/tasks/web/logs?${query}`);
  const pumpOf = ({ id }: Container): number =>
    JSON.parse(readFileSync(join(scene.stateDir, "executors", id, "record.json.log"), "utf8")).pid;
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index}\n`).join("");
  /** Prints so many numbers, and stays. */
  const counting = (count: number, pause = "") => `i=0; while [ $i -lt ${count} ]; do echo $i; i=$((i+1)); ${pause} done; exec sleep 1000`;

  test("the daemon and the pump are killed while a container prints: nothing is lost, nothing is there twice", async () => {
    const total = 6_000;
    let daemon = await scene.daemon();
    await apply(task(counting(total, "[ $((i%100)) = 0 ] && sleep 0.02;"), "\n    log: { maxSize: 64Ki, maxFiles: 100 }"));
    await until(async () => (await containers())[0]!.known === "RUNNING");
    const [app] = await containers();
    for (let kills = 0; kills < 3; kills++) {
      await daemon.kill();
      const pump = pumpOf(app!);
      process.kill(pump, "SIGKILL");
      // Also while nobody is there but the monitor.
      await until(() => pumpOf(app!) !== pump);
      daemon = await scene.daemon();
    }
    await until(() => printed(app!.log, "stdout").endsWith(`\n${total - 1}\n`));
    expect(printed(app!.log, "stdout") === numbers(total)).toBe(true);
    expect((await logs()).text === numbers(total)).toBe(true);
    expect((await logs("tail=2")).text).toBe(`${total - 2}\n${total - 1}\n`);
    // The pump writes its counts now and then.
    const counted = `runtd_log_lines_total{task="web",container="app"} ${total}\n`;
    await until(async () => (await http(read(), "GET", "/v1/metrics")).text.includes(counted));
    await scene.ctl("delete", "web");
  });

  test("logs -f over rotations and a restart, to the end; --previous", async () => {
    await scene.daemon();
    const go = join(scene.rootfs(), "tmp/go");
    await apply(
      task(
        "i=0; while [ $i -lt 4000 ]; do echo $i; i=$((i+1)); done; echo error >&2; until [ -e /tmp/go ]; do sleep 0.05; done; exit 3",
        "\n    log: { maxSize: 64Ki, maxFiles: 100 }\n    restart: { maximumCount: 1, backoff: { initial: 100ms } }",
      ),
    );
    // While its first incarnation is there.
    await until(async () => (await containers())[0]!.known === "RUNNING");
    const { stdout, stderr, ended } = follower();
    await until(() => stderr() === "error\n");
    writeFileSync(go, "");
    expect(await ended).toBe(0);
    rmSync(go);
    expect(stdout() === numbers(4000) + numbers(4000)).toBe(true);
    expect(stderr()).toBe("error\nerror\n");
    const [app] = await containers();
    expect(app).toMatchObject({ generation: 2, known: "STOPPED" });
    expect(logRecords(app!.log).length).toBe(4001);
    const { stdout: before, stderr: told } = await scene.ctl("logs", "web", "--previous");
    expect([before === numbers(4000), told]).toEqual([true, "error\n"]);
    // Which of two streams was read last is not said.
    const last = await scene.ctl("logs", "web", "--previous", "-n", "1");
    expect(last.stdout + last.stderr).toMatch(/^(3999|error)\n$/);
    await scene.ctl("delete", "web");
  });

  /** What `runtctl logs -f` of the task shows, while it goes on. */
  const follower = () => {
    const child = spawn(RUNTCTL[0], [...RUNTCTL.slice(1), "-s", read(), "logs", "web", "-f"], { stdio: ["ignore", "pipe", "pipe"] });
    const shown = { stdout: "", stderr: "", all: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].on("data", (chunk) => {
        shown[name] += chunk;
        shown.all += chunk;
      });
    }
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    return { shown: () => shown.all, stdout: () => shown.stdout, stderr: () => shown.stderr, ended };
  };

  test("E51: logs -f goes on after a kill and restart of the daemon, over rotations and a new start: each line once", async () => {
    const total = 3_000;
    let daemon = await scene.daemon();
    const script = `sleep 1; ${counting(total, "[ $((i%50)) = 0 ] && sleep 0.05;").replace("exec sleep 1000", "exit 3")}`;
    const fields = "\n    log: { maxSize: 64Ki, maxFiles: 100 }\n    restart: { maximumCount: 1, backoff: { initial: 1s } }";
    await apply(task(script, fields));
    await until(async () => (await containers())[0]!.known === "RUNNING");
    const { shown, ended } = follower();
    const hasPrinted = (path: string, number: number) => existsSync(path) && printed(path, "stdout").includes(`\n${number}\n`);
    let [app] = await containers();
    for (const reached of [total / 10, total / 2]) {
      await until(() => shown().includes(`\n${reached}\n`));
      await daemon.kill();
      // It is away for some lines.
      await until(() => hasPrinted(app!.log, reached + total / 10));
      daemon = await scene.daemon();
    }
    await until(async () => (await containers())[0]!.generation === 2);
    [app] = await containers();
    await until(() => hasPrinted(app!.log, total / 10));
    process.kill(daemon.pid, "SIGTERM");
    await daemon.ended;
    await scene.daemon();
    expect(await ended).toBe(0);
    expect(firstDifference(shown(), numbers(total) + numbers(total))).toBe(undefined);
    await scene.ctl("delete", "web");
  });

  test("logs -f of a task that is removed while no daemon is there says so and ends; a first daemon that is not there is an error", async () => {
    expect(await scene.ctl("logs", "web", "-f")).toMatchObject({ status: 3, stdout: "" });
    const daemon = await scene.daemon();
    await apply(task("echo here; exec sleep 1000"));
    await until(async () => (await containers())[0]!.known === "RUNNING");
    const { shown, ended } = follower();
    await until(() => shown() === "here\n");
    await daemon.kill();
    for (const { id } of scene.list()) execFileSync(RUNT, ["--root", join(scene.stateDir, "executors/@runtime"), "delete", "--force", id]);
    rmSync(scene.stateDir, { recursive: true });
    await scene.daemon();
    expect(await ended).toBe(0);
    expect(shown()).toBe("here\n[log] the task is gone: what it has printed at last was not read\n");
  });

  test("several containers: each line behind its name, in the order of time; who asks for what is not there is told", async () => {
    await scene.daemon();
    await apply(
      task("echo first; sleep 0.3; echo third; exec sleep 1000", "", "one"),
      task("sleep 0.15; echo second; exec sleep 1000", "", "other"),
    );
    await until(async () => /second.*third|third.*second/s.test((await scene.ctl("logs", "web")).stdout));
    const { stdout } = await scene.ctl("logs", "web", "-t");
    for (const line of stdout.trimEnd().split("\n"))
      expect(line).toMatch(/^(one {2}|other) \| \d{4}-\d\d-\d\dT[\d:.]{18}Z (first|second|third)$/);
    expect([...stdout.matchAll(/(\w+)\n/g)].map(([, word]) => word).sort()).toEqual(["first", "second", "third"]);
    expect((await scene.ctl("logs", "web", "-c", "other")).stdout).toBe("second\n");
    expect((await scene.ctl("logs", "web", "--since", new Date(Date.now() + 60_000).toISOString())).stdout).toBe("");
    expect(await logs()).toMatchObject({ status: 404, text: expect.stringContaining("one, other") });
    expect(await logs("container=nobody")).toMatchObject({ status: 404 });
    expect(await logs("container=one&tail=x")).toMatchObject({ status: 400 });
    expect((await logs("container=one&format=records&tail=1")).text).toMatch(/^\S{30} stdout F third\n$/);
    expect((await scene.ctl("logs", "nothing")).status).toBe(1);
    const second = scene.file("second.yaml", scriptTask(scene.rootfs(), { name: "db", script: "echo fourth; exec sleep 1000" }));
    await scene.ctl("apply", "-f", second);
    const linesOf = async (...words: string[]) => (await scene.ctl("logs", ...words)).stdout.trimEnd().split("\n").sort();
    await until(async () => (await linesOf("db"))[0] === "fourth");
    expect(await linesOf("--file", second)).toEqual(["fourth"]);
    const all = ["db/main   | fourth", "web/one   | first", "web/one   | third", "web/other | second"];
    expect(await linesOf("--all")).toEqual(all);
    expect(await linesOf("db", "web")).toEqual(all);
    expect(await scene.ctl("logs", "--all", "db")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("give task names, --file FILE, -p PROJECT, or --all"),
    });
    await scene.ctl("delete", "db", "web");
  });

  test("a reader that reads nothing holds neither the container nor the daemon's memory", async () => {
    const daemon = await scene.daemon();
    await apply(
      task("exec yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "\n    log: { maxSize: 1Mi, maxFiles: 2 }"),
    );
    await until(async () => (await containers())[0]!.known === "RUNNING");
    const memory = () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${daemon.pid}/status`, "utf8"))![1]);
    const script = `require("node:http").request({ socketPath: ${JSON.stringify(read())}, path: "/v1/tasks/web/logs?follow=true" }, (r) => { r.pause(); console.log("open"); }).end(); setInterval(() => {}, 1000)`;
    const slow = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"], cwd: REPOSITORY });
    await new Promise((resolve) => slow.stdout.once("data", resolve));
    const bytes = async () =>
      Number(/runtd_log_bytes_total\{[^}]*\} (\d+)/.exec((await http(read(), "GET", "/v1/metrics")).text)?.[1] ?? 0);
    const before = { memory: memory(), bytes: await bytes() };
    await until(async () => (await bytes()) > before.bytes + 30_000_000, 60_000 * SLOW);
    expect(memory() - before.memory).toBeLessThan(30_000);
    // And when it goes, nothing of it is left.
    const open = () =>
      readdirSync(`/proc/${daemon.pid}/fd`).filter((fd) => (linkOf(`/proc/${daemon.pid}/fd/${fd}`) ?? "").includes("/logs/")).length;
    expect(open()).toBeGreaterThan(0);
    slow.kill("SIGKILL");
    await until(() => open() === 0);
    await scene.ctl("delete", "web");
  });
});

/** Where two texts differ, with what is there; undefined: they are the same. */
function firstDifference(text: string, expected: string): string | undefined {
  if (text === expected) return undefined;
  const at = [...expected].findIndex((character, index) => text[index] !== character);
  return `at ${at} of ${expected.length}: ${JSON.stringify([text.slice(at - 20, at + 40), expected.slice(at - 20, at + 40)])}`;
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
