/**
 * One cycle: a verb whose runtime is killed at a random moment, then `delete --force`. In some the runtime is only stopped, and goes on in the middle
 * of that; in some the cgroup was there before, and somebody else's process is in it by then.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Config, sampleConfig } from "../support/config.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { startBystander } from "./bystander.ts";

/** The verb that is killed, and how often it is taken: mostly create. */
const SHARES = { create: 12, "run -d": 2, run: 2, start: 2, exec: 2, delete: 2 } as const;
export type Killed = keyof typeof SHARES;
export const KILLED = Object.keys(SHARES) as Killed[];
const LOTTERY = KILLED.flatMap((verb) => Array.from({ length: SHARES[verb] }, () => verb));

/** Undisturbed runs of each verb, to know how long it takes. */
const MEASURED = 5;
/** How far behind the measured end the last moments lie: some kills must come too late. */
const BEYOND = 1.15;
/** Shares of the cycles, of 1. */
const STOPPED = 0.15;
const KEPT = 0.15;
/** How long a runtime stays stopped while it is being deleted. */
const SLEEP_MS = 100;

export interface Cycler {
  readonly runtime: string;
  /** For the bundle, the state root and the output of the runtime. */
  readonly directory: string;
  /** Absolute path of the cgroup above those of the containers, below every hierarchy. */
  readonly cgroup: string;
  readonly rootfs: string;
  /** Numbers in [0, 1). */
  readonly random: () => number;
}

export interface CycleResult {
  readonly verb: Killed;
  /** Share of the verb's usual duration at which the kill was sent. */
  readonly moment: number;
  /** False: the verb had ended before. */
  readonly hit: boolean;
  /** Output of `delete --force`, or what it did not remove. */
  readonly problem?: string;
}

/** Verbs that come before the verb. */
const NEEDS: Readonly<Record<Killed, readonly Killed[]>> = {
  create: [],
  "run -d": [],
  run: [],
  start: ["create"],
  exec: ["create", "start"],
  delete: ["create", "start"],
};

/** Every container has an id and a cgroup of its own: what one has left must not hide what another one leaves. */
export async function newCycler({ directory, runtime, cgroup, rootfs, random }: Cycler): Promise<() => Promise<CycleResult>> {
  const root = join(directory, "root");
  const bundle = join(directory, "bundle");
  mkdirSync(bundle, { recursive: true });
  const config: Config = sampleConfig("hello");
  config.process.args = ["/bin/sleep", "1000"];
  config.root.path = rootfs;
  config.linux.resources = { pids: { limit: 50 }, memory: { limit: 64 << 20 } };
  let count = 0;

  const call = (args: readonly string[], started?: (child: ChildProcess) => void) =>
    execute(directory, [runtime, "--root", root, ...args], started);

  function nextContainer(kept?: string): { id: string; words: Readonly<Record<Killed, readonly string[]>> } {
    const id = `cycle-${process.pid}-${++count}`;
    config.linux.cgroupsPath = kept ?? `${cgroup}/${count}`;
    writeFileSync(join(bundle, "config.json"), JSON.stringify(config));
    const words = {
      create: ["create", "-b", bundle, "--pid-file", join(directory, `pid-${count}`), id],
      "run -d": ["run", "-d", "-b", bundle, id],
      run: ["run", "-b", bundle, id],
      start: ["start", id],
      exec: ["exec", id, "/bin/sleep", "1000"],
      delete: ["delete", "--force", id],
    };
    return { id, words };
  }

  async function must(args: readonly string[]): Promise<void> {
    const { status, stderr } = await call(args);
    if (status !== 0) throw new Error(`${args.join(" ")}: ${status}: ${stderr}`);
  }

  /** Milliseconds of an undisturbed verb. Foreground verbs last as long as the program: their beginning is that of another form. */
  async function measure(verb: Killed): Promise<number> {
    const { id, words } = nextContainer();
    for (const before of NEEDS[verb]) await must(words[before]);
    const begun = performance.now();
    await must(verb === "run" ? words["run -d"] : verb === "exec" ? ["exec", id, "/bin/true"] : words[verb]);
    const milliseconds = performance.now() - begun;
    await must(words.delete);
    return milliseconds;
  }

  const durations = {} as Record<Killed, number>;
  for (const verb of KILLED) {
    const seen: number[] = [];
    while (seen.length < MEASURED) seen.push(await measure(verb));
    durations[verb] = seen.sort((one, other) => one - other)[MEASURED >> 1]!;
  }

  /** Begin a verb that gets this signal at that time; `reached`: it has, or has ended before. */
  function disturb(args: readonly string[], end: number, signal: NodeJS.Signals) {
    let ended: ReturnType<typeof call> | undefined;
    const reached = new Promise<ChildProcess>((done) => {
      ended = call(args, (child) => signalAt(child, end, signal, () => done(child)));
    });
    return { reached, ended: ended! };
  }

  return async () => {
    const verb = LOTTERY[Math.floor(random() * LOTTERY.length)]!;
    const moment = random() * BEYOND;
    const [isStopped, isKept] = [random() < STOPPED, random() < KEPT];
    const bystander = isKept ? startBystander() : undefined;
    const { id, words } = nextContainer(bystander?.cgroup);
    for (const before of NEEDS[verb]) await must(words[before]);
    const end = performance.now() + moment * durations[verb];
    const disturbed = disturb(words[verb], end, isStopped ? "SIGSTOP" : "SIGKILL");
    const child = await disturbed.reached;
    if (!isStopped) await disturbed.ended;
    bystander?.enter();
    let last = call(words.delete);
    if (isStopped) {
      await Promise.race([last, sleep(SLEEP_MS)]);
      child.kill("SIGCONT");
      await last;
      // The next delete removes what the verb makes after this one.
      while (child.exitCode === null && child.signalCode === null) {
        await Promise.race([disturbed.ended, sleep(SLEEP_MS)]);
        last = call(words.delete);
        await last;
      }
    }
    const [{ status: verbStatus }, { status, stderr }] = await Promise.all([disturbed.ended, last]);
    const harm = await bystander?.end();
    const result = { verb, moment, hit: verbStatus === 137 || isStopped };
    if (harm !== undefined) return { ...result, problem: harm };
    if (status !== 0) return { ...result, problem: `delete --force: status ${status}: ${stderr.trim().replaceAll(id, "ID")}` };
    return existsSync(join(root, id)) ? { ...result, problem: "the state directory is still there" } : result;
  };
}

/** Timers of Node are a millisecond wide, so the rest is spent in its loop. */
function signalAt(child: ChildProcess, end: number, signal: NodeJS.Signals, done: () => void): void {
  const look = (): void => {
    if (child.exitCode === null && child.signalCode === null) {
      if (performance.now() < end) return void setImmediate(look);
      child.kill(signal);
    }
    done();
  };
  look();
}

let executions = 0;

/** Output goes to files: a container keeps them. Two at once at most. Status 137: killed. */
async function execute(directory: string, command: readonly string[], started?: (child: ChildProcess) => void) {
  const file = join(directory, `stderr-${++executions % 2}`);
  const fds = [openSync("/dev/null", "r+"), openSync(file, "w")] as const;
  try {
    const [program = "", ...args] = command;
    const child = spawn(program, args, { stdio: [fds[0], fds[0], fds[1]], timeout: PATIENCE_MS, killSignal: "SIGQUIT" });
    started?.(child);
    const status = await new Promise<number>((done, failed) => {
      child.on("error", failed);
      child.on("exit", (code, signal) => done(code ?? (signal === "SIGKILL" ? 137 : 255)));
    });
    return { status, stderr: readFileSync(file, "utf8") };
  } finally {
    for (const fd of fds) closeSync(fd);
  }
}
