/**
 * A client of a runtime, as engines are: a subreaper that starts the runtime with pipes, terminals and a parent-death signal, waits for
 * processes that are not its own children by birth, and takes terminals from console sockets. The work is done by test/probe/client.c.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { PATIENCE_MS } from "../support/patience.ts";
import { program } from "../support/programs.ts";

const SEPARATOR = "\x1f";

/** A pipe or terminal, seen from the client. */
export interface End {
  readonly name: string;
  /** The output so far. */
  text(): string;
  /** All of it, once nobody holds the other side any more. */
  all(): Promise<string>;
  /** Resolves when this has come. */
  shows(expected: string | RegExp): Promise<void>;
  send(text: string): void;
  close(): void;
  /** Returns when it has this size. */
  size(rows: number, columns: number): Promise<void>;
}

/** A message that was received on a console socket. */
export interface Console {
  readonly descriptors: number;
  readonly payload: string;
  /** True: there was more than the one message. */
  readonly more: boolean;
}

export interface ConsoleSocket {
  readonly path: string;
  readonly received: Promise<Console>;
  readonly terminal: End;
}

export interface StartOptions {
  /** Descriptors 0, 1, 2, ...; "null" is /dev/null. */
  readonly stdio: readonly (End | "null")[];
  /** The whole environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** SIGKILL when the client dies; as most clients ask for, so it is the default. */
  readonly deathSignal?: boolean;
  readonly ownGroup?: boolean;
  /** A session of its own, whose terminal is descriptor 0. */
  readonly ownSession?: boolean;
  /** LISTEN_PID becomes the pid of the program. */
  readonly listenPid?: boolean;
}

export interface Started {
  readonly pid: number;
  /** 128 + n for a signal. */
  readonly status: Promise<number>;
}

export interface Output {
  readonly status: number;
  /** stdout and stderr together. */
  readonly text: string;
}

export class Client {
  readonly #process: ChildProcess;
  readonly #statuses = new Map<number, number>();
  readonly #received = new Map<string, string>();
  readonly #ended = new Set<string>();
  readonly #spawned = new Map<string, number>();
  readonly #sizes = new Map<string, string>();
  readonly #consoles = new Map<string, Console>();
  #count = 0;
  #dead = false;

  /** `wrapper`: a command line to start the client with, such as unshare(1)'s. */
  constructor(wrapper: readonly string[] = []) {
    const [file = "", ...args] = [...wrapper, program("client")];
    this.#process = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"], env: { PATH: process.env["PATH"] } });
    this.#process.on("exit", () => {
      this.#dead = true;
    });
    this.#process.stdin?.on("error", () => {});
    createInterface({ input: this.#process.stdout! }).on("line", (line) => this.#take(line.split(SEPARATOR)));
  }

  /** The pid of the client. */
  get pid(): number {
    return this.#process.pid ?? 0;
  }

  pipe(): End {
    return this.#end("pipe");
  }

  input(): End {
    return this.#end("input");
  }

  terminal(rows: number, columns: number): End {
    return this.#end("terminal", String(rows), String(columns));
  }

  /** For descriptors that are handed over. */
  file(path: string): End {
    return this.#end("open", path);
  }

  consoleSocket(path: string): ConsoleSocket {
    const terminal = this.#end("console", path);
    return { path, terminal, received: this.#until(() => this.#consoles.get(terminal.name), `a terminal on ${path}`) };
  }

  async start(command: readonly string[], options: StartOptions): Promise<Started> {
    const tag = `s${++this.#count}`;
    const { stdio, env = {}, cwd = "/", deathSignal = true, ownGroup, ownSession, listenPid } = options;
    const flags = `-${deathSignal ? "d" : ""}${ownGroup ? "g" : ""}${ownSession ? "t" : ""}${listenPid ? "l" : ""}`;
    const entries = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const names = stdio.map((end) => (end === "null" ? end : end.name)).join(",");
    this.#request("spawn", tag, flags, cwd, names, String(entries.length), ...entries, ...command);
    const pid = await this.#until(() => this.#spawned.get(tag), `the start of ${command.join(" ")}`);
    const status = this.exited(pid, command.join(" "));
    // Not everybody waits for it: the client may have to die first.
    status.catch(() => {});
    return { pid, status };
  }

  /** Run to the end with stdout and stderr on one pipe, as most clients do. */
  async run(command: readonly string[], options: Partial<StartOptions> & { readonly input?: string } = {}): Promise<Output> {
    const output = this.pipe();
    const input = options.input === undefined ? "null" : this.input();
    const { status } = await this.start(command, { stdio: [input, output, output], ...options });
    if (input !== "null") {
      input.send(options.input ?? "");
      input.close();
    }
    return { status: await status, text: await output.all() };
  }

  /** The status of a child, also of an adopted one: only a child's can be waited for. */
  exited(pid: number, what = `process ${pid}`): Promise<number> {
    return this.#until(() => this.#statuses.get(pid), `the end of ${what}`);
  }

  /** Adopted containers live on, as with any client. */
  async end(signal: "SIGKILL" | "end of input" = "end of input"): Promise<void> {
    if (signal === "SIGKILL") this.#process.kill(signal);
    else this.#process.stdin?.end();
    while (!this.#dead) await sleep(5);
  }

  #request(...words: readonly string[]): void {
    this.#process.stdin?.write(`${words.join(SEPARATOR)}\n`);
  }

  #end(kind: string, ...words: readonly string[]): End {
    const name = `e${++this.#count}`;
    this.#received.set(name, "");
    this.#request(kind, name, ...words);
    const text = () => this.#received.get(name) ?? "";
    return {
      name,
      text,
      all: () => this.#until(() => (this.#ended.has(name) ? text() : undefined), `the end of file, after ${JSON.stringify(text())}`),
      shows: async (expected) => {
        const found = () => (typeof expected === "string" ? text().includes(expected) : expected.test(text()));
        await this.#until(() => found() || undefined, `${expected} in ${JSON.stringify(text())}`);
      },
      send: (data) => this.#request("send", name, Buffer.from(data).toString("hex")),
      close: () => this.#request("close", name),
      size: async (rows, columns) => {
        this.#request("size", name, String(rows), String(columns));
        await this.#until(() => this.#sizes.get(name) === `${rows} ${columns}` || undefined, "the new size");
      },
    };
  }

  #take([event, name = "", value = "", ...rest]: readonly string[]): void {
    if (event === "data") this.#received.set(name, (this.#received.get(name) ?? "") + Buffer.from(value, "hex").toString());
    if (event === "sized") this.#sizes.set(name, value);
    if (event === "eof") this.#ended.add(name);
    if (event === "exit") this.#statuses.set(Number(name), Number(value));
    if (event === "spawned") this.#spawned.set(name, Number(value));
    if (event === "console") {
      const [payload = "", more] = rest;
      this.#consoles.set(name, { descriptors: Number(value), payload: Buffer.from(payload, "hex").toString(), more: more === "more" });
    }
  }

  async #until<T>(get: () => T | undefined, what: string): Promise<T> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const value = get();
      if (value !== undefined) return value;
      if (this.#dead || Date.now() > deadline) throw new Error(`${this.#dead ? "the client has ended before" : "no sign of"} ${what}`);
      await sleep(2);
    }
  }
}

/** Only digits, and not even a newline: go-runc and BuildKit give the whole file to a strict integer parser. */
export function strictPid(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`not a pid file: ${JSON.stringify(text)}`);
  return Number(text);
}
