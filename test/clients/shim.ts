/**
 * containerd's shim, through go-runc (also under Docker, nerdctl and the kubelet). Every call has a state root a namespace and a JSON log in the
 * bundle; answers are stdout and stderr together; errors are the last line of level "error" in the log.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RUNTIME } from "../support/harness.ts";
import { type Client, type ConsoleSocket, type End, type Output, strictPid } from "./client.ts";

export interface ShimIo {
  readonly stdin?: End;
  readonly stdout: End;
  readonly stderr: End;
}

export class Shim {
  readonly #client: Client;
  readonly #root: string;
  /** Of the shim's first container: its directory is that of every call. */
  readonly #bundle: string;
  #processes = 0;
  /** The log when a call had last failed. */
  #errors = "";

  constructor(client: Client, root: string, bundle: string) {
    this.#client = client;
    this.#root = `${root}/default`;
    this.#bundle = bundle;
  }

  pipes(): ShimIo {
    return { stdout: this.#client.pipe(), stderr: this.#client.pipe() };
  }

  /** @returns the pid of init. @throws Error with what containerd shows */
  async create(id: string, bundle: string, io: ShimIo | ConsoleSocket, ...more: readonly string[]): Promise<number> {
    const pidFile = join(bundle, "init.pid");
    const console = "path" in io ? ["--console-socket", io.path] : [];
    await this.#withIo("create", io, ["create", "--bundle", bundle, "--pid-file", pidFile, ...console, ...more, id]);
    return strictPid(readFileSync(pidFile, "utf8"));
  }

  start(id: string): Promise<void> {
    return this.#checked("start", ["start", id]);
  }

  /** @returns the pid of the process */
  async exec(id: string, execId: string, process: object, io: ShimIo | ConsoleSocket): Promise<number> {
    const pidFile = join(this.#bundle, `${execId}.pid`);
    const file = join(this.#bundle, `runc-process${++this.#processes}`);
    writeFileSync(file, JSON.stringify(process));
    const console = "path" in io ? ["--console-socket", io.path] : [];
    try {
      await this.#withIo("exec", io, ["exec", "--process", file, ...console, "--detach", "--pid-file", pidFile, id]);
    } finally {
      rmSync(file);
    }
    return strictPid(readFileSync(pidFile, "utf8"));
  }

  /** The shim's view of the result. */
  async kill(id: string, signal: number, all = false): Promise<"done" | "process already finished" | "no such container"> {
    const { status, text } = await this.call(["kill", ...(all ? ["--all"] : []), id, String(signal)]);
    if (status === 0) return "done";
    if (/os: process already finished|container not running/.test(text) || /no such process/i.test(text)) return "process already finished";
    if (text.includes("does not exist")) return "no such container";
    throw new Error(`unknown error after kill: ${text}`);
  }

  async remove(id: string): Promise<void> {
    const { status, text } = await this.call(["delete", id]);
    if (status !== 0 && !text.includes("does not exist")) throw new Error(text);
  }

  /** The shim's own clean-up, after a crash and after every normal end. */
  removeByForce(id: string): Promise<Output> {
    return this.call(["delete", "--force", id]);
  }

  pause(id: string): Promise<void> {
    return this.#checked("pause", ["pause", id]);
  }

  resume(id: string): Promise<void> {
    return this.#checked("resume", ["resume", id]);
  }

  async update(id: string, resources: object): Promise<void> {
    const { status, text } = await this.call(["update", "--resources=-", id], { input: JSON.stringify(resources) });
    if (status !== 0) throw new Error(text);
  }

  async ps(id: string): Promise<readonly number[]> {
    return JSON.parse((await this.call(["ps", "--format", "json", id])).text) as readonly number[];
  }

  /** A call with stdout and stderr on one pipe. */
  call(args: readonly string[], options: { readonly input?: string } = {}): Promise<Output> {
    return this.#client.run([...this.#prefix(), ...args], { ...this.#surroundings(), ...options });
  }

  /** The log, while there is one. */
  log(): string {
    const file = join(this.#bundle, "log.json");
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }

  #prefix(): readonly string[] {
    return [RUNTIME, "--root", this.#root, "--log", join(this.#bundle, "log.json"), "--log-format", "json"];
  }

  #surroundings() {
    const env = { PATH: process.env["PATH"] ?? "", HOME: "/root", GOMAXPROCS: "4" };
    return { cwd: this.#bundle, env };
  }

  async #checked(verb: string, args: readonly string[]): Promise<void> {
    const { status, text } = await this.call(args);
    this.#check(verb, status, text);
  }

  async #withIo(verb: string, io: ShimIo | ConsoleSocket, args: readonly string[]): Promise<void> {
    if ("path" in io) return this.#checked(verb, args);
    const { stdin = "null", stdout, stderr } = io;
    const started = await this.#client.start([...this.#prefix(), ...args], { stdio: [stdin, stdout, stderr], ...this.#surroundings() });
    this.#check(verb, await started.status, stderr.text());
  }

  /** A success says nothing, neither in the log nor on a pipe. */
  #check(verb: string, status: number, text: string): void {
    if (status !== 0) {
      this.#errors = this.log();
      throw new Error(`OCI runtime ${verb} failed: ${lastError(this.#errors) ?? text}`);
    }
    if (text !== "" || this.log() !== this.#errors) throw new Error(`${verb} was not silent: ${text}${this.log()}`);
  }
}

/** go-runc reads every line, and takes the last that is an error. */
export function lastError(log: string): string | undefined {
  const lines = log
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { readonly level: string; readonly msg: string; readonly time: string });
  return lines.filter(({ level }) => level === "error").at(-1)?.msg;
}
