/** Daemons for tests: real processes, and what is left of their containers, seen by other means than theirs. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { CGROUP_PARENT, containerProcesses, hostTraces } from "../support/leaks.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { copiedRootfs, REPOSITORY } from "../support/programs.ts";
import { runSync } from "../support/run-sync.ts";
import { RUNTCTL } from "./client-programs.ts";
import { removeDaemonCgroups, taskCgroups } from "./daemon-cgroups.ts";
import { http, until } from "./requests.ts";
import { stopTimeoutOf } from "./tasks.ts";
import { told } from "./told.ts";

export { http, identityOf, until } from "./requests.ts";

export const isRoot = process.geteuid?.() === 0;
/** Of a whole test, in which many things come about one after the other. */
export const LONGEST_MS = 5 * PATIENCE_MS;
const RUNT = join(REPOSITORY, "bin/runt");
const RUNTD = join(REPOSITORY, "dist/runtd/main.js");
const FAULTY = join(REPOSITORY, "test/engine/programs/faulty-runtd.mjs");

export interface Answer {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A container as `runt list` shows it. */
export interface Listed {
  readonly id: string;
  readonly pid: number;
  readonly status: string;
}

export interface Daemon {
  readonly pid: number;
  readonly ended: Promise<number | null>;
  /** SIGKILL; returns when it is dead. */
  kill(): Promise<void>;
  /** What it has logged. */
  log(): string;
}

export interface SpawnOptions {
  readonly stateDir?: string;
  readonly runDir?: string;
  /** It believes to be in this boot of the host: bound over /proc/sys/kernel/random/boot_id in a mount namespace of its own. */
  readonly bootId?: string;
  /** More of its command line. */
  readonly args?: readonly string[];
  /** It ends itself there: programs/faulty-runtd.mjs. */
  readonly fault?: string;
  /** What a shell does before, in a mount namespace of its own. */
  readonly before?: string;
  /** File of the mount namespace that it is in; absent: that of this process, or one of its own. */
  readonly in?: string;
  /** File of the network namespace that it is in; absent: that of this process. */
  readonly network?: string;
  /** In its environment, beside that of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Scene {
  readonly directory: string;
  readonly stateDir: string;
  readonly socket: string;
  rootfs(): string;
  /** Returns at once. */
  spawn(options?: SpawnOptions): Daemon;
  /** Returns when it answers. */
  daemon(options?: SpawnOptions): Promise<Daemon>;
  ctl(...args: string[]): Promise<Answer>;
  /** Path of a file with this text. */
  file(name: string, text: string): string;
  list(): Listed[];
}

/** To be called inside `describe`. Daemons and clients are killed and containers deleted after each test, whatever has failed; nothing of them may be left at the end. */
export function useEngine(): Scene {
  // Made before the first test only: the hooks of a skipped file never run.
  const directory = join(tmpdir(), `runt-engine-${Math.random().toString(36).slice(2, 8)}`);
  const stateDir = join(directory, "state");
  const runDir = join(directory, "run");
  const socket = join(runDir, "admin.sock");
  let before = new Set<string>();
  let made = "";
  let count = 0;
  let daemons: Daemon[] = [];
  /** The daemon is in the network of this machine, where its pods must not have a bridge: it has no plugins, of which `apply` warns for every pod (pod-network.test.ts). */
  let isBare = false;
  const clients = new Set<ChildProcess>();
  const rootfs = () => (made ||= copiedRootfs(directory));
  const roots = ["executors", "executors-in-memory"].map((name) => join(stateDir, name, "@runtime"));
  /** Of the pools, whose containers `list` leaves out. */
  const poolRoots = () => {
    const pools = join(stateDir, "pools");
    return existsSync(pools) ? readdirSync(pools).map((id) => join(pools, id, "boxes/@runtime")) : [];
  };
  const listIn = (root: string): Listed[] =>
    existsSync(root) ? (JSON.parse(runSync(RUNT, ["--root", root, "list", "-f", "json"])) ?? []) : [];
  const list = () => roots.flatMap(listIn);

  function removeState(): void {
    for (const root of [...roots, ...poolRoots()])
      for (const { id } of listIn(root)) runSync(RUNT, ["--root", root, "delete", "--force", id]);
    unmountBelow(directory);
    // Root file systems of images, of containers that no daemon is there any more to remove.
    for (const path of rootsBelow(stateDir)) runSync("umount", [path]);
    // The resolver of tasks outlives its daemon.
    for (const path of taskCgroups().filter((one) => /\/resolver-[0-9a-f]{8}$/.test(one)))
      for (const pid of readFileSync(join(path, "cgroup.procs"), "utf8").split("\n").filter(Boolean)) process.kill(Number(pid), "SIGKILL");
    // Of tasks that no daemon is there any more to remove.
    for (const path of taskCgroups().reverse()) rmdirSync(path);
    rmSync(stateDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }

  beforeAll(() => {
    mkdirSync(directory);
    runSync("chmod", ["711", directory]);
    rootfs();
    before = hostTraces(directory);
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === "fail") console.error(await told(socket, daemons));
    for (const daemon of daemons) await daemon.kill();
    daemons = [];
    // A client waits for a daemon that has gone, and a test whose time is over no longer waits for its client.
    for (const client of clients) client.kill("SIGKILL");
    // A runt that a killed daemon has left behind goes on with its container, and it may not have recorded one yet: what comes late goes in
    // the next round, and there are rounds until no such process is left.
    let failure: unknown;
    const removed = (): boolean => {
      try {
        removeState();
        const left = containerProcesses(stateDir);
        failure = left.join("\n");
        return left.length === 0;
      } catch (error) {
        failure = error;
        return false;
      }
    };
    await until(removed, PATIENCE_MS, () => String(failure));
    removeDaemonCgroups();
    rmSync(runDir, { recursive: true, force: true });
  });
  afterAll(async () => {
    try {
      await until(() => {
        // A monitor may have been in its cgroup until now.
        removeDaemonCgroups();
        return [...hostTraces(directory)].every((line) => before.has(line));
      }).catch(() => {});
      expect([...hostTraces(directory)].filter((line) => !before.has(line))).toEqual([]);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  const scene: Scene = {
    directory,
    stateDir,
    socket,
    rootfs,
    list,
    spawn({
      stateDir: state = stateDir,
      runDir: run = runDir,
      bootId,
      args: further = [],
      fault,
      before,
      in: mounts,
      network,
      env: own,
    } = {}) {
      const log = join(directory, `runtd-${++count}.log`);
      isBare = network === undefined && !further.includes("--cni-path");
      const namespaces = [...(network === undefined ? [] : [`--net=${network}`]), ...(mounts === undefined ? [] : [`--mount=${mounts}`])];
      const inside = namespaces.length === 0 ? [] : ["nsenter", ...namespaces];
      const command = [
        ...inside,
        process.execPath,
        fault === undefined ? RUNTD : FAULTY,
        ...["--state-dir", state, "--run-dir", run, "--cgroup-parent", CGROUP_PARENT],
        ...(isBare ? ["--cni-path", join(directory, "no-plugins")] : []),
        ...further,
      ];
      const first = bootId === undefined ? before : bindBoot(directory, bootId);
      const [program, ...args] = first === undefined ? command : ["unshare", "-m", "sh", "-c", `${first} && exec "$@"`, "sh", ...command];
      const env = { ...process.env, ...own, ...(fault === undefined ? {} : { RUNTD_FAULT: fault }) };
      const child = spawn(program!, args, { stdio: ["ignore", "ignore", openSync(log, "w")], cwd: "/", env });
      const daemon = daemonOf(child, log);
      daemons.push(daemon);
      return daemon;
    },
    async daemon(options) {
      const daemon = scene.spawn(options);
      await until(
        () => /"ready"/.test(daemon.log()),
        PATIENCE_MS,
        () => daemon.log(),
      );
      return daemon;
    },
    ctl: (...args) =>
      new Promise((resolve) => {
        const [program, ...words] = RUNTCTL;
        const child = execFile(program, [...words, "-s", socket, ...args], (_, stdout, stderr) => {
          clients.delete(child);
          resolve({
            status: child.exitCode,
            stdout,
            stderr: isBare ? stderr.replaceAll(/^.* warning: .*: network: only loopback, .*\n/gm, "") : stderr,
          });
        });
        clients.add(child);
      }),
    file(name, text) {
      const path = join(directory, name);
      mkdirSync(directory, { recursive: true });
      writeFileSync(path, text);
      return path;
    },
  };
  return scene;
}

/** Namespaces and users that tasks have had, and that no daemon is there any more to give back. */
function unmountBelow(directory: string): void {
  const points = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "");
  const ofTasks = ["networks/", "users-", "pools-"].map((name) => `${directory}/run/${name}`);
  const left = points.filter((one) => ofTasks.some((start) => one.startsWith(start)));
  for (const point of left.reverse()) runSync("umount", ["--lazy", point]);
}

function rootsBelow(directory: string): string[] {
  const points = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "");
  const ofTasks = ["images/roots", "volumes", "secrets"].map((name) => `${directory}/${name}/`);
  return points.filter((path) => path === `${directory}/executors-in-memory` || ofTasks.some((start) => path.startsWith(start))).reverse();
}

/** For SpawnOptions.before. */
function bindBoot(directory: string, bootId: string): string {
  const path = join(directory, `boot-${bootId}`);
  writeFileSync(path, `${bootId}\n`);
  return `mount --bind ${path} /proc/sys/kernel/random/boot_id`;
}

function daemonOf(child: ChildProcess, log: string): Daemon {
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  return {
    pid: child.pid!,
    ended,
    async kill() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await ended;
    },
    log: () => readFileSync(log, "utf8"),
  };
}

/** Two containers; `app` depends on the start of `db`, and says so. Both print a line every 50 ms. */
export function webTask(rootfs: string, name = "web"): string {
  const container = (one: string, rest: string) => `
  - name: ${one}
    rootfs: ${rootfs}
    command: /bin/sh
    args: ["-c", "trap 'echo ${one} ends; exit 0' TERM; i=0; while :; do i=$((i+1)); echo ${one} $i; sleep 0.05; done"]
    stopTimeout: 10s${rest}`;
  return `name: ${name}\ncontainers:${container("db", "")}${container("app", "\n    dependsOn: [{ container: db, condition: START }]")}\n`;
}

export interface ScriptTask {
  readonly name: string;
  /** For /bin/sh. */
  readonly script: string;
  /** More lines of the task, and of its one container `main`. */
  readonly task?: string;
  readonly container?: string;
  /** Directory of the host that the script has as /shared. */
  readonly shared?: string;
}

/** A task of one container that runs a script: its document of a file. */
export function scriptTask(rootfs: string, { name, script, task = "", container = "", shared }: ScriptTask): string {
  const mounts = shared === undefined ? "" : `\n    mounts: [{ source: ${shared}, target: /shared }]`;
  return `---
name: ${name}
${task}
containers:
  - name: main
    rootfs: ${rootfs}
    command: /bin/sh
    args: ["-c", ${JSON.stringify(script)}]
    stopTimeout: ${stopTimeoutOf(script)}${mounts}
    ${container}
`;
}

/** What there is now, without gaps. */
export async function eventsOf(socketPath: string, after: number): Promise<{ sequence: number; data: Record<string, unknown> }[]> {
  const { lastSequence } = JSON.parse((await http(socketPath, "GET", "/v1/node")).text);
  if (lastSequence <= after) return [];
  const text = await new Promise<string>((resolve, reject) => {
    let received = "";
    const call = request({ socketPath, path: `/v1/events?after=${after}` }, (response) => {
      response.on("data", (chunk) => {
        received += chunk;
        if (!new RegExp(`^id: ${lastSequence}\n(?:.+\n)*\n`, "m").test(received)) return;
        call.destroy();
        resolve(received);
      });
      response.on("error", reject);
    });
    call.on("error", reject);
    call.end();
  });
  return text
    .split("\n\n")
    .filter((block) => /^id: /m.test(block))
    .map((block) => ({ sequence: Number(/^id: (\d+)$/m.exec(block)![1]), data: JSON.parse(/^data: (.*)$/m.exec(block)![1]!) }));
}

export interface Shared {
  /** On the host. */
  readonly directory: string;
  /** Of the file `lines` in it, so far. */
  lines(): string[];
}

/** An empty directory that tasks write to (ScriptTask.shared). */
export function sharedIn(scene: Scene, name: string): Shared {
  const directory = join(scene.directory, `shared-${name}`);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  const file = join(directory, "lines");
  return { directory, lines: () => (existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : []) };
}
