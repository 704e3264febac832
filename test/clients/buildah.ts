/** Buildah, for RUN: create, start, state every tenth of a second until the container has stopped, delete without force. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RUNTIME } from "../support/harness.ts";
import { type Client, type ConsoleSocket, type End, type Output, strictPid } from "./client.ts";

const POLL_MS = 100;
/** Anything else ends the build. */
const STATUSES: ReadonlySet<string> = new Set(["creating", "created", "running", "stopped"]);

export class Buildah {
  readonly #client: Client;
  readonly #root: string;
  readonly #bundle: string;

  constructor(client: Client, root: string, bundle: string) {
    this.#client = client;
    this.#root = `${root}/buildah`;
    this.#bundle = bundle;
  }

  /** @returns the pid of the program. @throws Error with the words on stderr */
  async create(name: string, stdio: readonly [End | "null", End | "null", End], console?: ConsoleSocket): Promise<number> {
    const pidFile = join(this.#bundle, "pid");
    const socket = console ? ["--console-socket", console.path] : [];
    const words = ["create", "--bundle", this.#bundle, "--pid-file", pidFile, ...socket, "--no-new-keyring", name];
    const { status } = await this.#client.start([...this.#words(), ...words], { stdio, ...this.#surroundings() });
    if ((await status) !== 0) throw new Error(await stdio[2].all());
    return strictPid(readFileSync(pidFile, "utf8"));
  }

  /** @returns how often the state was asked for. @throws Error for a status that is unknown */
  async untilStopped(name: string): Promise<number> {
    for (let polls = 1; ; polls++) {
      const { status } = JSON.parse((await this.call("state", name)).text) as { readonly status: string };
      if (!STATUSES.has(status)) throw new Error(`unexpected status ${status}`);
      if (status === "stopped") return polls;
      await sleep(POLL_MS);
    }
  }

  call(...args: readonly string[]): Promise<Output> {
    return this.#client.run([...this.#words(), ...args], this.#surroundings());
  }

  #words(): readonly string[] {
    return [RUNTIME, "--root", this.#root];
  }

  #surroundings() {
    return { cwd: this.#bundle, env: { PATH: process.env["PATH"] ?? "", HOME: "/root" } };
  }
}
