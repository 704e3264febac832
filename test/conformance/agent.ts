/** A seccomp agent at linux.seccomp.listenerPath (test/probe/seccomp-agent.c). */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { program } from "../support/programs.ts";
import { waitFor } from "./container.ts";
import type { Context } from "./context.ts";

export interface Connection {
  /** Kind of the first descriptor. */
  readonly what: string;
  readonly descriptors: number;
  /** The container process state. */
  readonly state: Readonly<Record<string, unknown>>;
}

export class Agent {
  readonly path: string;
  readonly #log: string;
  readonly #process: ChildProcess;

  private constructor(c: Context, hold: boolean) {
    const directory = c.scratch("agent");
    this.path = join(directory, "socket");
    this.#log = join(directory, "log");
    const out = openSync(this.#log, "w");
    this.#process = spawn(program("seccomp-agent"), [this.path, ...(hold ? ["--hold"] : [])], { stdio: ["pipe", out, "inherit"] });
    closeSync(out);
    c.cleanup(() => this.#end());
  }

  /** mkdir(2) and mkdirat(2) get EDQUOT from it, other calls go on. hold: only after `release`. */
  static async start(c: Context, { hold = false }: { readonly hold?: boolean } = {}): Promise<Agent> {
    const agent = new Agent(c, hold);
    await waitFor(() => agent.#lines().includes("listening"), "the agent");
    return agent;
  }

  release(): void {
    this.#process.stdin?.end();
  }

  /** It has got a notification that it does not answer yet. */
  async holds(): Promise<void> {
    await waitFor(() => this.#lines().includes("held"), "a notification");
  }

  /** The last of this many connections. */
  async connection(count = 1): Promise<Connection> {
    const complete = () => this.#lines().filter((line) => line.startsWith("fds="));
    await waitFor(() => complete().length >= count, "a connection to the agent");
    const what = this.#lines().filter((line) => line.startsWith("what "))[count - 1] ?? "";
    const [, descriptors, text = ""] = /^fds=(\d+) (.*)$/.exec(complete()[count - 1] ?? "") ?? [];
    return { what: what.slice("what ".length), descriptors: Number(descriptors), state: JSON.parse(text) };
  }

  /** The first connection has been closed, without another word. */
  async closed(): Promise<void> {
    await waitFor(() => this.#lines().some((line) => line === "closed" || line === "more"), "the end of a connection");
    if (this.#lines().includes("more")) throw new Error("the state was not all");
  }

  get connections(): number {
    return this.#lines().filter((line) => line.startsWith("fds=")).length;
  }

  #lines(): string[] {
    return readFileSync(this.#log, "utf8").split("\n");
  }

  /** Its children end with the containers that they answer. */
  #end(): void {
    this.release();
    this.#process.kill("SIGKILL");
  }
}
