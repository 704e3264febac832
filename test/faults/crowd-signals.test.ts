/** Signals of the caller while a verb runs: those that mean nothing to it change nothing, and those that end it leave what can be removed. */
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { CGROUPS, isUnified } from "../support/cgroups.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { ONE_LINE } from "./environment.ts";

const VERBS = ["create", "run -d", "start", "state", "exec", "pause", "resume", "update", "kill", "delete"] as const;
type Verb = (typeof VERBS)[number];

/** Verbs that come before. */
const NEEDS: Readonly<Record<Verb, readonly Verb[]>> = {
  create: [],
  "run -d": [],
  start: ["create"],
  state: ["create"],
  exec: ["run -d"],
  pause: ["run -d"],
  resume: ["run -d", "pause"],
  update: ["run -d"],
  kill: ["run -d"],
  delete: ["run -d"],
};

describe.skipIf(!isRoot || !isRunt)("signals of the caller (needs root)", () => {
  const { bundle, id, ok, root, runtime } = useHarness();

  /** All of them, as fast as they can be sent, for as long as it runs. */
  function storm(signals: readonly NodeJS.Signals[]): { started: (child: ChildProcess) => void; sent: () => number } {
    let sent = 0;
    return {
      started: (child) => {
        const send = (): void => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          for (const signal of signals) if (child.kill(signal)) sent++;
          setImmediate(send);
        };
        send();
      },
      sent: () => sent,
    };
  }

  function wordsFor(verb: Verb, name: string, path: string): readonly string[] {
    const special: Partial<Record<Verb, readonly string[]>> = {
      create: ["create", "-b", path, name],
      "run -d": ["run", "-d", "-b", path, name],
      exec: ["exec", name, "/bin/sh", "-c", "exit 5"],
      update: ["update", "--pids-limit", "30", name],
      kill: ["kill", name, "KILL"],
      delete: ["delete", "--force", name],
    };
    return special[verb] ?? [verb, name];
  }

  const staying = () => bundle((config) => shell(config, "exec sleep 1000"));
  const clean = async (name: string) => {
    expect(await runtime(["delete", "--force", name])).toMatchObject({ status: 0, stderr: "" });
    expect(existsSync(root) ? readdirSync(root).filter((entry) => entry !== "@cache") : []).toEqual([]);
    const places = isUnified ? [CGROUPS] : readdirSync(CGROUPS).map((place) => `${CGROUPS}/${place}`);
    expect(places.filter((path) => existsSync(path + CGROUP_PARENT))).toEqual([]);
  };

  /** proc_pid_stat(5): the state follows the name in parentheses. */
  const isStopped = (pid: number) => /\) T /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));

  test.each(VERBS)("%s: stopped and continued, and signals that are ignored", async (verb) => {
    const path = staying();
    const name = id();
    for (const before of NEEDS[verb]) await ok(wordsFor(before, name, path));
    const { started, sent } = storm(["SIGWINCH", "SIGCHLD", "SIGURG", "SIGSTOP", "SIGCONT"]);
    const { status, stderr } = await runtime(wordsFor(verb, name, path), { started });
    expect(sent()).toBeGreaterThan(0);
    expect({ status, stderr }).toEqual({ status: verb === "exec" ? 5 : 0, stderr: "" });
    await clean(name);
  });

  test.each(VERBS)("%s: told to end", async (verb) => {
    const path = staying();
    const name = id();
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const) {
      for (const before of NEEDS[verb]) await ok(wordsFor(before, name, path));
      const { started } = storm([signal]);
      const { status, stderr } = await runtime(wordsFor(verb, name, path), { started });
      // Ended by it before anything was done, in the midst, or too late; the foreground hands it to the program.
      if (status !== 0) expect(stderr).toMatch(stderr === "" ? /^$/ : ONE_LINE);
      const state = await runtime(["state", name]);
      if (state.status === 0) expect(JSON.parse(state.stdout).status).toMatch(/^(creating|created|running|paused|stopped)$/);
      else expect(state.stderr).toMatch(/does not exist|state\.json/);
      await clean(name);
    }
  });

  test("a foreground run hands them to the program, each of them", async () => {
    const name = id();
    const path = bundle((config) =>
      shell(config, "trap 'exit 42' TERM; trap 'echo hup' HUP; trap 'echo usr' USR1; echo ready; while :; do sleep 0.02; done"),
    );
    const { status, stdout, stderr } = await runtime(["run", "-b", path, name], {
      started: (child, output) => {
        let rounds = 0;
        const timer = setInterval(() => {
          // Before it is ready its traps are not set, and earlier still a signal ends the start.
          if (child.exitCode !== null || child.signalCode !== null) clearInterval(timer);
          else if (readFileSync(output, "utf8").includes("ready")) {
            for (const signal of ["SIGHUP", "SIGUSR1", "SIGWINCH", "SIGCHLD"] as const) child.kill(signal);
            if (++rounds >= 100) child.kill("SIGTERM");
          }
        }, 10);
      },
    });
    expect({ status, stderr }).toEqual({ status: 42, stderr: "" });
    expect(stdout).toContain("hup");
    expect(stdout).toContain("usr");
    await clean(name);
  });

  test("a signal that comes when the program has just begun is the program's, also if the runtime has not seen it begin", async () => {
    const name = id();
    const shared = mkdtempSync(join(tmpdir(), "runt-test-"));
    onTestFinished(() => rmSync(shared, { recursive: true }));
    const path = bundle((config) => {
      shell(config, "trap 'exit 42' TERM; trap 'echo hup' HUP; echo ready; while :; do sleep 0.02; done");
      const wait = "echo waits > /tmp/hook; until [ -e /tmp/go ]; do sleep 0.05; done";
      config["hooks"] = { startContainer: [{ path: "/bin/sh", args: ["sh", "-c", wait] }] };
      config.mounts.push({ destination: "/tmp", type: "bind", source: shared, options: ["rbind"] });
    });
    const { status, stdout, stderr } = await runtime(["run", "-b", path, name], {
      started: (child, output) => {
        const steps: readonly { readonly isDue: () => boolean; readonly act: () => void }[] = [
          { isDue: () => existsSync(join(shared, "hook")), act: () => child.kill("SIGSTOP") },
          { isDue: () => isStopped(child.pid!), act: () => writeFileSync(join(shared, "go"), "") },
          { isDue: () => readFileSync(output, "utf8").includes("ready"), act: () => child.kill("SIGHUP") && child.kill("SIGCONT") },
          { isDue: () => readFileSync(output, "utf8").includes("hup"), act: () => child.kill("SIGTERM") },
        ];
        let at = 0;
        const timer = setInterval(() => {
          if (child.exitCode !== null || child.signalCode !== null || at === steps.length) clearInterval(timer);
          else if (steps[at]!.isDue()) steps[at++]!.act();
        }, 300);
      },
    });
    expect({ status, stdout, stderr }).toEqual({ status: 42, stdout: "ready\nhup\n", stderr: "" });
    await clean(name);
  });
});
