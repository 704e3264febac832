/** BuildKit's executor: run in the foreground with --keep and without a state root, exec in the foreground, delete. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RUNTIME } from "../support/harness.ts";
import { type Client, type End, type Output, type Started, strictPid } from "./client.ts";

const POLL_MS = 100;
const KILL_AGAIN_MS = 50;
const KILL_LIMIT_MS = 7_000;

export type Stdio = readonly (End | "null")[];

export class BuildKit {
  readonly #client: Client;
  readonly #log: string;

  constructor(client: Client, directory: string) {
    this.#client = client;
    this.#log = join(directory, "runc-log.json");
  }

  /** Its status is the step's. */
  run(id: string, bundle: string, stdio: Stdio): Promise<Started> {
    return this.#start(["run", "--bundle", bundle, "--keep", id], stdio);
  }

  /** Before an exec: the state is asked for until the container runs. */
  async untilRunning(id: string): Promise<void> {
    for (;;) {
      const { status, text } = await this.#call("state", id);
      if (status === 0 && (JSON.parse(text) as { readonly status: string }).status === "running") return;
      await sleep(POLL_MS);
    }
  }

  /** @returns also the pid of the process itself, from the pid file, while it runs */
  async exec(id: string, directory: string, document: object, stdio: Stdio): Promise<Started & { readonly process: Promise<number> }> {
    const [file, pidFile] = [join(directory, "process.json"), join(directory, "exec.pid")];
    rmSync(pidFile, { force: true });
    writeFileSync(file, JSON.stringify(document));
    const started = await this.#start(["exec", "--process", file, "--pid-file", pidFile, id], stdio);
    const process = async () => {
      while (!existsSync(pidFile)) await sleep(KILL_AGAIN_MS);
      return strictPid(readFileSync(pidFile, "utf8"));
    };
    return { ...started, process: process() };
  }

  /** A step is cancelled: SIGKILL until the runtime has taken one. */
  async cancel(id: string): Promise<void> {
    const deadline = Date.now() + KILL_LIMIT_MS;
    for (;;) {
      const { status, text } = await this.#call("kill", id, "9");
      if (status === 0) return;
      if (Date.now() > deadline) throw new Error(text);
      await sleep(KILL_AGAIN_MS);
    }
  }

  remove(id: string): Promise<Output> {
    return this.#call("delete", id);
  }

  log(): string {
    return existsSync(this.#log) ? readFileSync(this.#log, "utf8") : "";
  }

  #start(words: readonly string[], stdio: Stdio): Promise<Started> {
    return this.#client.start([...this.#words(), ...words], { stdio, ownGroup: true, env: { PATH: process.env["PATH"] ?? "" } });
  }

  #call(...words: readonly string[]): Promise<Output> {
    return this.#client.run([...this.#words(), ...words], { ownGroup: true, env: { PATH: process.env["PATH"] ?? "" } });
  }

  #words(): readonly string[] {
    return [RUNTIME, "--log", this.#log, "--log-format", "json"];
  }
}
