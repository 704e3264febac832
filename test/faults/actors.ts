/** Others who are at work on the same cgroup, container or id while a verb is struck, and who must come to no harm by it, or to a good end. */
import { spawn } from "node:child_process";
import { readFileSync, readlinkSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { CGROUPS } from "../support/cgroups.ts";
import { enterPlace, HIERARCHIES, makePlace } from "../support/places.ts";
import { holdsLock } from "../support/process-status.ts";
import type { Companion } from "./companion.ts";
import { attempt, until } from "./wait.ts";
import * as world from "./world.ts";

/** Letter of proc_pid_stat(5); undefined: it has ended. */
function stateOf(pid: number): string | undefined {
  let stat = "";
  if (!attempt(() => (stat = readFileSync(`/proc/${pid}/stat`, "utf8")))) return undefined;
  const letter = stat.replace(/^.*\) /s, "")[0];
  return letter === "Z" || letter === "X" ? undefined : letter;
}

const isStopped = (pid: number): boolean => stateOf(pid) === "T";
const hasEnded = (pid: number): boolean => stateOf(pid) === undefined;

function must(is: boolean, what: string): void {
  if (!is) throw new Error(what);
}

function container(): { readonly status: string; readonly pid: number } | undefined {
  const { status, stdout } = world.product("state", world.ID);
  return status === 0 ? JSON.parse(stdout) : undefined;
}

/**
 * The container of a `run` that may have been killed: its init has begun the program, or ended with the runtime that it waited for.
 * A busy machine takes its time for that.
 */
function settled(): ReturnType<typeof container> {
  const found = container();
  if (!found?.pid) return found;
  until(() => hasEnded(found.pid) || hasBegunProgram(found.pid));
  return container();
}

/** A process that is ending has no program any more: its link cannot be read, and it has not begun another one. */
function hasBegunProgram(pid: number): boolean {
  try {
    return !readlinkSync(`/proc/${pid}/exe`).includes("runt-init");
  } catch {
    return false;
  }
}

/** Continues the stopped process. Returns whether it ends. */
function wake(pid: number): boolean {
  attempt(() => process.kill(pid, "SIGCONT"));
  return until(() => hasEnded(pid));
}

const LEFT_ALONE = new RegExp(
  `^runt: warning: container ${world.ID}: in its cgroup, but not known to be its own, and left alone: process(?:es)? ([\\d ]+)\n$`,
);

/** Moves the visitor, from inside of a hook. */
export function enterHook(cgroup: string): string {
  return `for f in ${CGROUPS}${CGROUPS === HIERARCHIES[0] ? "" : "/*"}${cgroup}/cgroup.procs; do cat ${world.VISITOR} >"$f"; done`;
}

/**
 * The container's cgroup was there before, and somebody moves into it: before the verb, or where that makes the container, by a hook in the middle of
 * it, at the latest when it has ended.
 */
export function startVisitor(cgroup: string, makes: boolean): Companion {
  makePlace(cgroup);
  const visitor = spawn("sleep", ["infinity"], { stdio: "ignore", detached: true });
  const pid = visitor.pid!;
  writeFileSync(world.VISITOR, `${pid}\n`);
  // A snapshot knows processes by their words, too.
  must(
    until(() => readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("sleep")),
    "the visitor does not begin",
  );
  const enter = () => must(enterPlace(cgroup, pid) === HIERARCHIES.length, "the visitor cannot enter");
  const lives = (mountpoint: string) => readFileSync(`${mountpoint}${cgroup}/cgroup.procs`, "utf8").split("\n").includes(String(pid));
  const harm = (): string[] => {
    if (!until(() => stateOf(pid) === "S")) return [`somebody else's process is in state ${stateOf(pid) ?? "ended"}`];
    return HIERARCHIES.every((mountpoint) => attempt(() => must(lives(mountpoint), ""))) ? [] : ["somebody else's process was moved"];
  };
  return {
    enter: makes ? () => {} : enter,
    struck() {
      const wrong = harm();
      if (!makes || wrong[0]?.endsWith("ended")) return wrong;
      enter();
      return harm();
    },
    // With an init that has lost its runtime and is dying.
    explains(stderr) {
      const named = LEFT_ALONE.exec(stderr)?.[1]?.split(" ").map(Number) ?? [];
      return named.includes(pid) && named.every((one) => one === pid || until(() => hasEnded(one)));
    },
    deleted: harm,
    end() {
      visitor.kill("SIGKILL");
      for (const mountpoint of HIERARCHIES) {
        for (let path = cgroup; path !== "/"; path = dirname(path)) {
          if (!until(() => attempt(() => rmdirSync(mountpoint + path)))) break;
        }
      }
    },
  };
}

/** The monitor of a foreground `run` that is stopped, and goes on when its container has been deleted and the id is another's. */
export function startOldMonitor(deletes: boolean): Companion {
  let pid = 0;
  return {
    enter() {
      pid = world.begin("product", ["run", "-b", world.BUNDLE, world.ID]);
      must(
        until(() => container()?.status === "running" && !holdsLock(pid)),
        "the first container does not run",
      );
      process.kill(pid, "SIGSTOP");
      must(
        until(() => isStopped(pid)),
        "the monitor does not stop",
      );
      if (!deletes) must(world.product("delete", "--force", world.ID).status === 0, "the first container cannot be deleted");
    },
    struck() {
      if (deletes) {
        const [removed, made] = [world.product("delete", "--force", world.ID), world.product("run", "-d", "-b", world.BUNDLE, world.ID)];
        if (removed.status !== 0) return [`the second delete --force: ${removed.stderr.trim()}`];
        if (made.status !== 0) return [`the id cannot be used again: ${made.stderr.trim()}`];
      }
      const before = settled();
      if (!wake(pid)) return ["the old monitor does not end"];
      const after = container();
      const same = before?.pid === after?.pid && before?.status === after?.status;
      return same ? [] : [`the old monitor leaves of a container that is ${before?.status} one that is ${after?.status}`];
    },
    end: () => void attempt(() => process.kill(pid, "SIGKILL")),
  };
}

const UPDATE = ["update", "--pids-limit", "99", world.ID];

/** The number of the first point where the verb has the container's lock. */
function lockPoint(args: readonly string[]): string {
  const { status, stderr } = world.tested(args, { RUNT_FAULT_LOG: world.POINTS });
  const [, number] = /^runtime (\d+) after flock/m.exec(readFileSync(world.POINTS, "utf8")) ?? [];
  if (status !== 0 || number === undefined) throw new Error(`${args.join(" ")}: where is its lock? ${stderr}`);
  return number;
}

/**
 * A runtime that was stopped while it has the lock of the container, and goes on after the verb. With `makes` it is the one that makes the container,
 * which a hook stops. `ended`: a verb that succeeds has ended it.
 */
export function startStoppedRuntime(makes: boolean, ended: boolean): Companion {
  let pid = 0;
  return {
    enter() {
      pid = makes
        ? world.begin("tested", ["create", "-b", world.BUNDLE, world.ID])
        : world.begin("tested", UPDATE, { RUNT_FAULT: `runtime:${lockPoint(UPDATE)}:stop` });
      must(
        until(() => isStopped(pid)),
        "the runtime does not stop",
      );
    },
    struck({ status }) {
      if (ended && status === 0 && !until(() => hasEnded(pid))) return ["the runtime that has the lock was left"];
      if (!ended && !isStopped(pid)) return ["the runtime that has the lock was disturbed"];
      return wake(pid) ? [] : ["the runtime that had the lock does not end"];
    },
    end: () => void attempt(() => process.kill(pid, "SIGKILL")),
  };
}

/** Stops init, so that it answers nothing any more. */
export function stopInit(): Companion {
  return {
    enter() {
      const pid = container()?.pid ?? 0;
      must(pid > 0 && attempt(() => process.kill(pid, "SIGSTOP")) && until(() => isStopped(pid)), "init does not stop");
    },
    end() {},
  };
}

/** A `start` whose startContainer hook does not end: it ends with the container. */
export function startHanging(): Companion {
  let pid = 0;
  return {
    enter() {
      pid = world.begin("product", ["start", world.ID]);
      must(
        until(() => container()?.status === "running"),
        "start does not come to its hook",
      );
    },
    deleted: () => (until(() => hasEnded(pid)) ? [] : ["start does not end with its container"]),
    end: () => void attempt(() => process.kill(pid, "SIGKILL")),
  };
}
