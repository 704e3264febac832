/** One runtime under one attack: its bundles and containers in a directory of their own, all of it gone afterwards. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, cpSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type CallOptions, call, type Result } from "../support/call.ts";
import { type Config, sampleConfig } from "../support/config.ts";
import { peerCommand } from "../support/crun.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { REPOSITORY } from "../support/programs.ts";
import type { Runtime } from "./subjects.ts";

const PEER_ROUNDS = 200;

export type Change = (config: Config) => void;

export interface SubjectOptions extends CallOptions {
  /** System calls (test/support/refuse.c) that the runtime finds missing: "openat2,clone3". */
  readonly refuse?: string;
  /** Words before the command: a program that starts it. */
  readonly through?: readonly string[];
}

export class Subject {
  readonly #cleanups: (() => unknown)[] = [];
  #count = 0;
  #executable: string;

  constructor(
    readonly runtime: Runtime,
    /** Of this attack alone, searchable for everybody. */
    readonly directory: string,
    /** Busybox with the probe as /probe: shared, not to be written to. */
    readonly sharedRootfs: string,
    /** How often a race is run: of the order of this number. */
    readonly rounds: number,
  ) {
    this.#executable = runtime.path;
    this.root = join(directory, "state");
    mkdirSync(directory, { recursive: true, mode: 0o711 });
  }

  /** "runt", "undefended", "crun" or "runc". */
  get name(): string {
    return this.runtime.name;
  }

  /** True for runt, with its defences or without. */
  get isRunt(): boolean {
    return this.runtime.isRunt;
  }

  /** Directory of the container states. */
  root: string;

  /** How often `exec` or `run` is raced. A peer's fewer rounds show what is to be compared with. */
  get execRounds(): number {
    return this.isRunt ? this.rounds : Math.min(this.rounds, PEER_ROUNDS);
  }

  /** Every cgroup of the attack is below this one. */
  readonly cgroup = CGROUP_PARENT;

  /** The runtime's executable. */
  get executable(): string {
    return this.#executable;
  }

  /**
   * From now on the runtime is a copy, in a directory of its own: nothing worse than that can be overwritten. Returns the directory. What
   * runt without "self-exe" starts its helper from lies beside it.
   */
  ownExecutable(): string {
    const directory = this.scratch("program");
    this.#executable = join(directory, basename(this.runtime.path));
    cpSync(this.runtime.path, this.#executable);
    if (this.name === "undefended") cpSync(join(dirname(this.runtime.path), "runt-init"), join(directory, "runt-init"));
    return directory;
  }

  /** Undone after the attack, the last first, whatever happened. */
  cleanup(action: () => unknown): void {
    this.#cleanups.push(action);
  }

  /** A new empty directory: for victims, volumes, sockets. */
  scratch(name = "scratch"): string {
    const path = join(this.directory, `${name}-${++this.#count}`);
    mkdirSync(path, { mode: 0o755 });
    return path;
  }

  /** A copy of the shared root file system that the attacker has prepared. */
  rootfs(prepare: (path: string) => void = () => {}): string {
    const path = this.scratch("rootfs");
    execFileSync("cp", ["-ax", `${this.sharedRootfs}/.`, path]);
    prepare(path);
    return path;
  }

  /** A bundle of the sample's configuration with the shared root file system, read-only as the sample has it. Returns its directory. */
  bundle(change: Change = () => {}, sample = "hello"): string {
    const path = this.scratch("bundle");
    const config = sampleConfig(sample);
    config.root.path = this.sharedRootfs;
    config.linux.cgroupsPath = `${this.cgroup}/${this.#count}`;
    change(config);
    writeFileSync(join(path, "config.json"), JSON.stringify(config));
    return path;
  }

  /** A new container id; the container is deleted by force afterwards. */
  id(): string {
    const id = `s${process.pid}-${++this.#count}`;
    this.cleanup(() => this.call(["delete", "--force", id]));
    return id;
  }

  /** The words that run the runtime with --root; its environment is `runtime.env`. */
  command(args: readonly string[], { refuse, through = [] }: Pick<SubjectOptions, "refuse" | "through"> = {}): string[] {
    const refusing = refuse === undefined ? [] : [join(REPOSITORY, "build/test/refuse"), "ENOSYS", refuse];
    return [...through, ...refusing, ...peerCommand(this.#executable, ["--root", this.root, ...args])];
  }

  /** Run the runtime to its end; status 137 after a minute. */
  call(args: readonly string[], options: SubjectOptions = {}): Promise<Result> {
    return call(this.directory, this.command(args, options), { ...options, env: { ...this.runtime.env, ...options.env } });
  }

  /** The same, expecting success. Returns stdout. */
  async ok(args: readonly string[], options?: SubjectOptions): Promise<string> {
    const { status, stdout, stderr } = await this.call(args, options);
    if (status !== 0) throw new Error(`${this.name} ${args.join(" ")}: status ${status}: ${stderr || stdout}`);
    return stdout;
  }

  /** Start the runtime and go on; killed afterwards. `output`: a file for stdout and stderr. */
  start(args: readonly string[], { output, ...options }: SubjectOptions & { readonly output?: string } = {}): ChildProcess {
    const env = { ...this.runtime.env, ...options.env };
    return this.startProgram(this.command(args, options), output, { ...options, env });
  }

  /** The same with any other program. */
  startProgram([file = "", ...args]: readonly string[], output = "/dev/null", { extra = [], cwd, env }: CallOptions = {}): ChildProcess {
    const fd = openSync(output, "a");
    const child = spawn(file, args, { stdio: ["ignore", fd, fd, ...extra], env: { ...process.env, ...env }, ...(cwd ? { cwd } : {}) });
    closeSync(fd);
    this.cleanup(() => child.exitCode ?? child.kill("SIGKILL"));
    return child;
  }

  /** A container that runs a shell command (by default it sleeps). Returns its id. */
  async running(change: Change = () => {}, command = "exec sleep 1000", options?: SubjectOptions): Promise<string> {
    const id = this.id();
    const path = this.bundle((config) => {
      config.process.args = ["/bin/sh", "-c", command];
      change(config);
    });
    await this.ok(["run", "-d", "-b", path, id], options);
    await this.until(id, "running");
    return id;
  }

  /** Wait until `state` shows this status. */
  async until(id: string, status: string): Promise<void> {
    await eventually(async () => JSON.parse((await this.call(["state", id])).stdout || "{}").status === status, `${id} is ${status}`);
  }

  /** The pid of a container's init. */
  async pid(id: string): Promise<number> {
    return JSON.parse(await this.ok(["state", id])).pid;
  }

  /** Remove everything. Returns the errors met. */
  async finish(): Promise<string[]> {
    const errors: string[] = [];
    for (const action of this.#cleanups.reverse()) {
      try {
        await action();
      } catch (error) {
        errors.push(error instanceof Error ? error.message : String(error));
      }
    }
    rmSync(this.directory, { recursive: true, force: true });
    return errors;
  }
}

/** Wait until it is so. @throws Error after a minute */
export async function eventually(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not in time: ${what}`);
    await sleep(20);
  }
}

/** The text of a file; "" if there is none. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
