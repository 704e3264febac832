/** Readers of what a verb writes that do not read, or not for long. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { closedPipe, fullPipe, makeFifo } from "../../support/pipes.ts";
import { program } from "../../support/programs.ts";
import type { Reader, Verb } from "./steps.ts";

export interface Reading {
  /** Global flags, and those of the verb. */
  readonly global: readonly string[];
  readonly own: readonly string[];
  /** Whether the program gets a terminal. */
  readonly terminal: boolean;
  /** Of stdout and stderr; undefined: somebody reads them. The caller closes it. */
  readonly output: number | undefined;
}

export class Readers {
  private readonly directory: string;
  /** What somebody else has, to which a link of the name of a pid file leads. */
  private readonly treasure: string;
  private readonly closing: Server;
  private full: ChildProcess | undefined;
  private readonly held: number[] = [];

  constructor(directory: string, treasure: string) {
    this.directory = directory;
    this.treasure = treasure;
    mkdirSync(directory, { recursive: true });
    this.closing = createServer((socket) => void socket.on("error", () => {}).destroy());
  }

  private path(name: string): string {
    return join(this.directory, name);
  }

  async begin(): Promise<void> {
    await new Promise<void>((done) => this.closing.listen(this.path("closing"), done));
    const child = spawn(program("full-socket"), [this.path("full")], { stdio: ["pipe", "pipe", "inherit"] });
    this.full = child;
    await new Promise((done) => child.stdout.once("data", done));
  }

  of(reader: Reader | undefined, verb: Verb, number: number): Reading {
    const usual = { global: [], own: [], terminal: false, output: undefined };
    const name = `${reader}-${number}`;
    switch (reader) {
      case "full":
        return { ...usual, output: this.unread(name) };
      case "closed":
        return { ...usual, output: closedPipe(this.path(name)) };
      case "device":
        return { ...usual, output: openSync("/dev/full", "w") };
      case "log":
        return { ...usual, global: ["--log", makeFifo(this.path(name))] };
      case "pid-fifo":
      case "pid-link":
      case "pid-directory":
        return writesPid(verb) ? { ...usual, own: ["--pid-file", this.inPlaceOf(reader, name)] } : usual;
      case "console-full":
        return this.console(verb, "full");
      case "console-closed":
        return this.console(verb, "closing");
      case undefined:
        return usual;
    }
  }

  private console(verb: Verb, socket: string): Reading {
    const isExec = verb === "exec --detach";
    const takes = isExec || verb === "create" || verb === "run --detach";
    const own = takes ? [...(isExec ? ["--tty"] : []), "--console-socket", this.path(socket)] : [];
    return { global: [], own, terminal: takes && !isExec, output: undefined };
  }

  private inPlaceOf(reader: "pid-fifo" | "pid-link" | "pid-directory", name: string): string {
    if (reader === "pid-fifo") return makeFifo(this.path(name));
    if (reader === "pid-link") symlinkSync(this.treasure, this.path(name));
    else mkdirSync(this.path(name));
    return this.path(name);
  }

  /** Nobody reads it as long as the walk lasts. */
  private unread(name: string): number {
    const { reader, writer } = fullPipe(this.path(name));
    this.held.push(reader);
    return writer;
  }

  close(): void {
    this.full?.kill("SIGKILL");
    this.closing.close();
    for (const fd of this.held) closeSync(fd);
    rmSync(this.directory, { recursive: true, force: true });
  }
}

const writesPid = (verb: Verb): boolean => verb === "create" || verb.startsWith("run") || verb.startsWith("exec");
