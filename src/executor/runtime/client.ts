/** A typed client of every verb of `runt`, as go-runc is one for Go: a call is a process, an error is a RuntimeError. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync } from "node:fs";
import { createInterface } from "node:readline";
import { endWithThis, runProgram } from "../../node/index.ts";
import { signalNumber } from "../signals.ts";
import { type Answer, BOUNDS, type Call, call, failure, LOG_FLAGS, lastLine, openLog } from "./call.ts";
import { checkVersion, locateRuntime } from "./locate.ts";
import type * as types from "./types.ts";

export interface RuntimeOptions {
  /** State directory of the containers; default: runt's own. */
  readonly root?: string;
  /** The program; default: that of the package, RUNT_BINARY, PATH. */
  readonly binary?: string;
  readonly cgroupManager?: "cgroupfs" | "systemd" | "disabled";
  readonly rootless?: boolean;
}

export class Runtime {
  /** Path of the program. */
  readonly binary: string;
  readonly root: string | undefined;
  readonly #global: readonly string[];

  /** @throws ExecutorError runtime-not-found, runtime-version */
  constructor({ root, binary = locateRuntime(), cgroupManager, rootless }: RuntimeOptions = {}) {
    checkVersion(binary);
    this.binary = binary;
    this.root = root;
    this.#global = [
      ...(root === undefined ? [] : ["--root", root]),
      ...(cgroupManager === undefined ? [] : ["--cgroup-manager", cgroupManager]),
      ...(rootless === undefined ? [] : ["--rootless", String(rootless)]),
    ];
  }

  /** Version of the program: "0.1.0". */
  version(): string {
    return checkVersion(this.binary);
  }

  async create(id: string, options: types.CreateOptions): Promise<void> {
    await this.#make("create", createFlags(options), id, options);
  }

  async start(id: string): Promise<void> {
    await this.#call("start", [id]);
  }

  /** Create and start in the background. */
  async run(id: string, options: types.CreateOptions): Promise<void> {
    await this.#make("run", ["--detach", ...createFlags(options)], id, options);
  }

  async #make(verb: string, flags: readonly string[], id: string, { stdio, abort, cgroupManager }: types.CreateOptions): Promise<void> {
    await this.#call(verb, [...flags, id], {
      // The later one counts.
      global: [...this.#global, ...value("--cgroup-manager", cgroupManager)],
      stdio: stdio ?? ["ignore", "ignore", "ignore"],
      abort,
    });
  }

  /** Run a further process and wait for its end. Its exit status is no error; see Executor.exec for deadlines. */
  async exec(id: string, options: types.ExecOptions): Promise<types.ExecOutput> {
    const log = openLog();
    try {
      const command = this.execCommand(id, options);
      const {
        exitCode = 255,
        stdout,
        stderr,
      } = await runProgram(this.binary, command, { ...BOUNDS, input: options.input, descriptors: [log] });
      const line = lastLine(log);
      if (line !== "") throw failure("exec", exitCode, line, stderr, "");
      return { exitCode, stdout: stdout.toString() };
    } finally {
      closeSync(log);
    }
  }

  /** Arguments with which `runt` runs a process in the container in the foreground; descriptor 3 is its log. */
  execCommand(id: string, options: types.ExecOptions): string[] {
    return [...this.#global, ...LOG_FLAGS, "exec", ...execFlags(options), id, ...(options.args ?? [])];
  }

  /**
   * A signal to init, with `all` to every process, with `cgroup` ("[CONTROLLER,...:]PATH" below the container's own) to every process there that is
   * the container's. SIGKILL by `cgroup` returns when all of them are gone. @throws ExecutorError invalid-argument
   */
  async kill(id: string, signal: string | number = "SIGTERM", { all = false, cgroup }: types.KillOptions = {}): Promise<void> {
    await this.#call("kill", [...(all ? ["--all"] : []), ...value("--cgroup", cgroup), id, String(signalNumber(signal))]);
  }

  /** A signal to init of each of these containers. One that has ended, or is not there, is no error. @throws ExecutorError invalid-argument; RuntimeError, of the first that fails */
  async killEach(ids: readonly string[], signal: string | number): Promise<void> {
    const pattern = `^(?:${ids.map((id) => id.replace(/[.+]/g, "\\$&")).join("|")})$`;
    await this.#call("kill", ["--regex", pattern, String(signalNumber(signal))]);
  }

  async delete(id: string, { force = false } = {}): Promise<void> {
    await this.#call("delete", [...(force ? ["--force"] : []), id]);
  }

  async state(id: string): Promise<types.ContainerState> {
    return JSON.parse((await this.#call("state", [id])).stdout);
  }

  async list(): Promise<readonly types.ContainerState[]> {
    return JSON.parse((await this.#call("list", ["--format", "json"])).stdout) ?? [];
  }

  /** Host pids of the container's processes. */
  async ps(id: string): Promise<readonly number[]> {
    return JSON.parse((await this.#call("ps", ["--format", "json", id])).stdout);
  }

  /** One `stats` event's data, as runc prints it; see Executor.stats for one type on v1 and v2. */
  async stats(id: string): Promise<Readonly<Record<string, unknown>>> {
    return JSON.parse((await this.#call("events", ["--stats", id])).stdout).data;
  }

  /** Statistics every interval, and an event each time the kernel kills for memory, until the container ends or the loop is left. */
  async *events(id: string, { intervalMs = 5_000 } = {}): AsyncGenerator<types.RuntimeEvent> {
    // No runProgram (src/node): it runs as long as the caller reads, and nothing is collected.
    const command = [...this.#global, "events", "--interval", `${intervalMs}ms`, id];
    const child = spawn(this.binary, command, { stdio: ["ignore", "pipe", "ignore"], cwd: "/" });
    const ended = once(child, "close").catch((error: Error) => error);
    // Where this process may open no more files there are no pipes, whatever Node's types say.
    if (child.pid === undefined) throw failure("events", 128, "", "", `could not be started: ${await ended}`);
    endWithThis(child);
    try {
      for await (const line of createInterface(child.stdout)) yield JSON.parse(line) as types.RuntimeEvent;
    } finally {
      child.kill();
      await ended;
    }
  }

  /** What the kernel of the container's virtual machine counts, as `runt machine metrics --format json` prints it. */
  async machineMetrics(id: string): Promise<string> {
    return (await this.#call("machine", ["metrics", "--format", "json", id])).stdout;
  }

  async pause(id: string): Promise<void> {
    await this.#call("pause", [id]);
  }

  async resume(id: string): Promise<void> {
    await this.#call("resume", [id]);
  }

  /** Limits as linux.resources of config.json; what is not named stays. */
  async update(id: string, resources: types.OciResources): Promise<void> {
    await this.#call("update", ["--resources", "-", id], { input: JSON.stringify(resources) });
  }

  async checkpoint(id: string, options: types.CriuOptions): Promise<void> {
    await this.#call("checkpoint", [...criuFlags(options), ...(options.leaveRunning ? ["--leave-running"] : []), id]);
  }

  /** In the background. */
  async restore(
    id: string,
    { bundle, stdio, ...options }: types.CriuOptions & Pick<types.CreateOptions, "bundle" | "stdio">,
  ): Promise<void> {
    await this.#call("restore", ["--detach", "--bundle", bundle, ...criuFlags(options), id], {
      stdio: stdio ?? ["ignore", "ignore", "ignore"],
    });
  }

  /** The features document of the OCI runtime specification. */
  async features(): Promise<Readonly<Record<string, unknown>>> {
    return JSON.parse((await this.#call("features", [])).stdout);
  }

  /** What is wrong with a bundle. Findings are an answer, not an error. */
  async validate(bundle: string, { host }: { readonly host?: string } = {}): Promise<types.Findings> {
    const flags = ["--format", "json", "--bundle", bundle, ...(host === undefined ? [] : ["--host", host])];
    return JSON.parse((await this.#call("validate", flags, { expected: [0, 1] })).stdout);
  }

  /** The plan that create would execute. */
  async plan(bundle: string, { host }: { readonly host?: string } = {}): Promise<Readonly<Record<string, unknown>>> {
    const flags = ["--format", "json", "--bundle", bundle, ...(host === undefined ? [] : ["--host", host])];
    return JSON.parse((await this.#call("plan", flags)).stdout);
  }

  /** What this host offers to containers. */
  async check(): Promise<Readonly<Record<string, unknown>>> {
    return JSON.parse((await this.#call("check", ["--format", "json"], { expected: [0, 1] })).stdout);
  }

  async inspect(id: string): Promise<types.Inspection> {
    return JSON.parse((await this.#call("inspect", [id])).stdout);
  }

  #call(verb: string, args: readonly string[], rest: Partial<Call> = {}): Promise<Answer> {
    return call({ binary: this.binary, global: this.#global, verb, args, ...rest });
  }
}

function value(flag: string, text: string | undefined): string[] {
  return text === undefined ? [] : [flag, text];
}

function numeral(number: number | undefined): string | undefined {
  return number === undefined ? undefined : String(number);
}

function createFlags(options: types.CreateOptions): string[] {
  return [
    ...["--bundle", options.bundle],
    ...value("--config", options.config),
    ...value("--console-socket", options.consoleSocket),
    ...value("--pid-file", options.pidFile),
    ...value("--cgroup-parent", options.cgroupParent),
    ...value("--exit-record", options.exitRecord),
    ...value("--resize-fifo", options.resizeFifo),
    ...value("--deadline-fifo", options.deadlineFifo),
    ...value("--output-log", options.outputLog?.path),
    ...value("--output-log-size", numeral(options.outputLog?.maxBytes)),
    ...value("--output-log-files", numeral(options.outputLog?.files)),
    ...value("--expect-plan", options.expectPlan),
    ...(options.noPivot ? ["--no-pivot"] : []),
    ...(options.noNewKeyring ? ["--no-new-keyring"] : []),
  ];
}

function execFlags(options: types.ExecOptions): string[] {
  return [
    ...value("--cwd", options.cwd),
    ...(options.tty ? ["--tty"] : []),
    ...value("--console-size", options.consoleSize),
    ...value("--resize-fifo", options.resizeFifo),
    ...value("--pid-file", options.pidFile),
    ...value("--user", options.user),
    ...(options.env ?? []).flatMap((entry) => ["--env", entry]),
    ...(options.additionalGids ?? []).flatMap((gid) => ["--additional-gids", String(gid)]),
    ...(options.capabilities ?? []).flatMap((name) => ["--cap", name]),
    ...(options.cgroups ?? []).flatMap((path) => ["--cgroup", path]),
  ];
}

function criuFlags({ imagePath, workPath, tcpEstablished, fileLocks }: types.CriuOptions): string[] {
  return [
    ...["--image-path", imagePath],
    ...value("--work-path", workPath),
    ...(tcpEstablished ? ["--tcp-established"] : []),
    ...(fileLocks ? ["--file-locks"] : []),
  ];
}
