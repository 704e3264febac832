/** Processes that tell of every signal they get (test/probe/witness.c), and of their end by that of their connection. */
import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { PATIENCE_MS } from "../../support/patience.ts";
import { program } from "../../support/programs.ts";

export interface Witness {
  readonly name: string;
  /** In its own PID namespace. */
  readonly pid: number;
  readonly began: number;
  readonly alive: boolean;
  /** Exit status of the command beside it; undefined while that runs. */
  readonly status: number | undefined;
  /** Send this signal to the command beside it. */
  kill(signal: number): void;
  /** Whether it answers in this time. */
  answers(milliseconds: number): Promise<boolean>;
  end(): void;
}

export interface Observation {
  readonly name: string;
  readonly began: number;
  readonly at: number;
  readonly what: string;
}

interface Connected extends Witness {
  alive: boolean;
  status: number | undefined;
}

export class Witnesses {
  /** What containers get mounted, with the program and the socket. */
  readonly directory: string;
  private readonly server: Server;
  private readonly byName = new Map<string, Connected>();
  private observed: Observation[] = [];
  private readonly started = new Set<ChildProcess>();
  private pings = 0;

  constructor(directory: string) {
    this.directory = directory;
    mkdirSync(directory, { recursive: true });
    copyFileSync(program("witness"), this.program);
    this.server = createServer((socket) => this.accept(socket));
  }

  get program(): string {
    return join(this.directory, "witness");
  }

  get socket(): string {
    return join(this.directory, "s");
  }

  async listen(): Promise<void> {
    rmSync(this.socket, { force: true });
    await new Promise<void>((done) => this.server.listen(this.socket, done));
  }

  /** What has happened since the last time. */
  taken(): readonly Observation[] {
    const taken = this.observed;
    this.observed = [];
    return taken;
  }

  get(name: string): Witness | undefined {
    return this.byName.get(name);
  }

  all(): readonly Witness[] {
    return [...this.byName.values()];
  }

  /** A new one, in a session of its own; `words` come before the program, `options` behind it. */
  async start(name: string, { words = [], options = [], command = [], stdio }: Start = {}): Promise<Witness> {
    const [file = "", ...args] = [...words, this.program, ...options, this.socket, name, ...command];
    const child = spawn(file, args, { detached: true, stdio: stdio ? [...stdio] : "ignore" });
    this.started.add(child);
    let error: unknown;
    child.on("error", (cause) => {
      error = cause;
    });
    child.on("exit", () => this.started.delete(child));
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end && error === undefined; await sleep(1)) {
      const found = this.byName.get(name);
      if (found) return found;
    }
    throw error ?? new Error(`the witness ${name} has not begun (${words.join(" ")})`);
  }

  /** Whatever is connected ends; so do the commands beside them. */
  async close(): Promise<void> {
    for (const one of this.byName.values()) one.end();
    this.server.close();
    for (const end = Date.now() + PATIENCE_MS; this.started.size > 0 && Date.now() < end; ) await sleep(2);
    for (const child of this.started) child.kill("SIGKILL");
  }

  private accept(socket: Socket): void {
    let own: Connected | undefined;
    const waiting = new Map<string, () => void>();
    const observe = (what: string) => own && this.observed.push({ name: own.name, began: own.began, at: Date.now(), what });
    createInterface({ input: socket }).on("line", (line) => {
      const [word, first = "", second = ""] = line.split(" ");
      if (word === "hello") {
        own = this.connected(socket, first, Number(second), waiting);
        this.byName.set(first, own);
      } else if (word === "signal") observe(`signal ${first} from process ${second}`);
      else if (word === "exit" && own) own.status = Number(first);
      else if (word === "pong") waiting.get(first)?.();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      if (own?.alive) observe("its end");
      if (own) own.alive = false;
      for (const answer of waiting.values()) answer();
    });
  }

  private connected(socket: Socket, name: string, pid: number, waiting: Map<string, () => void>): Connected {
    const connected: Connected = {
      name,
      pid,
      began: Date.now(),
      alive: true,
      status: undefined,
      kill: (signal) => void socket.write(`kill ${signal}\n`),
      answers: async (milliseconds) => {
        const word = String(++this.pings);
        let answered = false;
        const answer = new Promise<void>((done) =>
          waiting.set(word, () => {
            answered = connected.alive;
            done();
          }),
        );
        if (!connected.alive) return false;
        socket.write(`ping ${word}\n`);
        await Promise.race([answer, sleep(milliseconds, undefined, { ref: false })]);
        waiting.delete(word);
        return answered;
      },
      end() {
        connected.alive = false;
        socket.destroy();
      },
    };
    return connected;
  }
}

interface Start {
  readonly words?: readonly string[];
  readonly options?: readonly string[];
  readonly command?: readonly string[];
  readonly stdio?: readonly ("ignore" | number)[];
}
