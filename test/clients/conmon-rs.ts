/** conmon-rs: the command of an exec on the command line, short and joined flags, and global flags that its configuration may repeat. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RUNTIME } from "../support/harness.ts";
import { type Client, type ConsoleSocket, type End, strictPid } from "./client.ts";

export interface Process {
  readonly pid: number;
  readonly stdout: End;
}

export class ConmonRs {
  readonly #client: Client;
  readonly #globals: readonly string[];

  /** `more`: global words of the caller, which come a second time then. */
  constructor(client: Client, root: string, more: readonly string[] = []) {
    this.#client = client;
    this.#globals = [`--root=${root}/rs`, ...more];
  }

  create(id: string, bundle: string, console?: ConsoleSocket): Promise<Process> {
    const pidFile = join(bundle, "pidfile");
    const words = ["create", "--bundle", bundle, "--pid-file", pidFile];
    return this.#start([...words, ...(console ? [`--console-socket=${console.path}`] : []), id], pidFile);
  }

  exec(id: string, bundle: string, command: readonly string[], console?: ConsoleSocket): Promise<Process> {
    const pidFile = join(bundle, "exec-pidfile");
    const terminal = console ? [`--console-socket=${console.path}`, "--tty"] : [];
    return this.#start(["exec", "-d", ...terminal, `--pid-file=${pidFile}`, id, ...command], pidFile);
  }

  call(...args: readonly string[]) {
    return this.#client.run([RUNTIME, ...this.#globals, ...args], { env: { PATH: process.env["PATH"] ?? "" } });
  }

  /** @throws Error with status and words of the runtime */
  async #start(words: readonly string[], pidFile: string): Promise<Process> {
    const [stdout, stderr] = [this.#client.pipe(), this.#client.pipe()];
    const started = await this.#client.start([RUNTIME, ...this.#globals, ...words], { stdio: ["null", stdout, stderr] });
    const status = await started.status;
    if (status !== 0) throw new Error(`${status}: ${await stderr.all()}`);
    return { pid: strictPid(readFileSync(pidFile, "utf8")), stdout };
  }
}
