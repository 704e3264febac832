/** One stream of the channel in the guest: a process of the container, its stdio, and its end. */
import * as host from "../../host/index.ts";
import { Allowance, DATA_MOST, encodeCredit, type Failure, type FrameName, type Size } from "../channel/index.ts";
import { creditedOutlet, Inlet, type Loop, type Outlet } from "../flow/index.ts";
import * as kernel from "../kernel.ts";
import type { MemoryWatch } from "./cgroup.ts";

const KILL = 9;
const FAILED = 1;

/** What it is connected with, of the process that makes it. */
export interface Stdio {
  readonly stdin: number;
  readonly stdout: number;
  readonly stderr: number;
}

export interface ProgramOptions {
  readonly loop: Loop;
  readonly send: (name: FrameName, payload?: Uint8Array) => void;
  readonly terminal: boolean;
  readonly size: Size | undefined;
}

/** Stdio is a pipe each, or one terminal that arrives later. The program's end is told when its output has gone. */
export class Program {
  readonly #options: ProgramOptions;
  readonly #allowances = { stdout: new Allowance(), stderr: new Allowance() };
  #stdin: Outlet | undefined;
  /** What its output comes by. */
  readonly #outputs = new Set<Inlet>();
  #master = -1;
  #pid: number | undefined;
  #status: number | undefined;
  #running = false;
  /** The output waits until this is called. */
  #held: (() => void) | undefined;
  #failure: Failure | undefined;
  #told = false;
  /** It was killed before it had a process. */
  #doomed = false;
  /** How SIGKILL reaches all of a container, or of what a further process has started; undefined: it is one process. */
  killAll: (() => void) | undefined;
  /** Called when the end was told. */
  over: (() => void) | undefined;
  /** Of a container, from its start to its end. */
  memory: MemoryWatch | undefined;
  /** Signals all processes of a container but these. */
  signalRest: ((number: number, isLeftOut: (pid: number) => boolean) => void) | undefined;

  constructor(options: ProgramOptions) {
    this.#options = options;
  }

  get terminal(): boolean {
    return this.#options.terminal;
  }

  /** The ends for the program; whoever starts it closes them. */
  makePipes(): Stdio {
    const [stdin, ourStdin] = kernel.pipe();
    const [ourStdout, stdout] = kernel.pipe();
    const [ourStderr, stderr] = kernel.pipe();
    for (const fd of [ourStdin, ourStdout, ourStderr]) kernel.setNonBlocking(fd);
    this.#feed(ourStdin);
    this.#drain("stdout", ourStdout);
    this.#drain("stderr", ourStderr);
    return { stdin, stdout, stderr };
  }

  /** The other side of its terminal. */
  takeTerminal(master: number): void {
    this.#master = master;
    if (this.#options.size) this.resize(this.#options.size);
    kernel.setNonBlocking(master);
    this.#feed(master);
    this.#drain("stdout", master);
  }

  stdin(bytes: Uint8Array): void {
    this.#stdin?.push(bytes);
  }

  /** A terminal stays: its end is a character that is typed. */
  stdinEnd(): void {
    if (!this.#options.terminal) this.#stdin?.end();
  }

  resize({ rows, columns }: Size): void {
    if (this.#master !== -1) kernel.setWindowSize(this.#master, rows, columns);
  }

  grant(channel: "stdout" | "stderr", bytes: number): void {
    this.#allowances[channel].grant(bytes);
  }

  /** It is made: `pid` is that in this pid namespace. */
  begin(pid: number): void {
    this.#pid = pid;
    if (this.#doomed) this.signal(KILL);
  }

  signal(number: number): void {
    if (this.#pid === undefined) this.#doomed ||= number === KILL;
    if (this.#pid === undefined || this.#status !== undefined) return;
    try {
      if (number === KILL && this.killAll) this.killAll();
      else host.kill(this.#pid, number);
    } catch (error) {
      // It has just ended, and that is told soon.
      if (!host.isErrno(error, "ESRCH")) throw error;
    }
  }

  /** No output goes on before `start`. */
  hold(): void {
    this.#held = () => {};
  }

  /** It is made; `next` comes when the host says that it may run. */
  created(next: () => void): void {
    this.#held = next;
    this.#options.send("created");
  }

  start(): void {
    const next = this.#held;
    this.#held = undefined;
    next?.();
  }

  started(): void {
    this.#running = true;
    this.#options.send("started");
  }

  /** The kernel has killed a process of the container. */
  outOfMemory(): void {
    this.#options.send("oom");
  }

  failed(failure: Failure): void {
    this.#failure = failure;
    this.#held = undefined;
  }

  /** Whether this is its process, which has not ended. */
  runs(pid: number): boolean {
    return this.#pid === pid && this.#status === undefined;
  }

  ended(status: number): void {
    this.#status = status;
    if (this.#held) this.failed({ message: "runt: the container has ended before its start", status: status || FAILED, shown: false });
  }

  /** Tells the end, or the failure, once there is one and all output has gone. Returns whether the stream is over. */
  finish(): boolean {
    if (this.#told) return true;
    // Processes that it leaves behind may have its output open for ever. What it has written itself is there.
    if (this.#status !== undefined && !this.#held) for (const output of [...this.#outputs]) output.finish();
    if (this.#failure && this.#outputs.size === 0) {
      return this.#tell("failed", new Uint8Array(host.utf8Encode(JSON.stringify(this.#failure))));
    }
    if (!this.#running || this.#status === undefined || this.#outputs.size > 0) return false;
    this.memory?.look();
    this.memory?.end();
    return this.#tell("exit", new Uint8Array([this.#status]));
  }

  #tell(name: "exit" | "failed", payload: Uint8Array): true {
    this.#told = true;
    this.#options.send(name, payload);
    this.over?.();
    return true;
  }

  #feed(fd: number): void {
    const { loop, send } = this.#options;
    this.#stdin = creditedOutlet(loop, fd, (bytes) => {
      if (!this.#told) send("credit", encodeCredit({ channel: "stdin", bytes }));
    });
  }

  #drain(channel: "stdout" | "stderr", fd: number): void {
    const { loop, send } = this.#options;
    const allowance = this.#allowances[channel];
    const output = new Inlet(loop, fd, {
      room: () => (this.#held ? 0 : Math.min(allowance.left, DATA_MOST)),
      data: (bytes) => {
        // Words of a verb that has failed, which are told by its message.
        if (this.#failure?.shown === false) return;
        allowance.spend(bytes.length);
        send(channel, bytes);
      },
      end: () => {
        this.#outputs.delete(output);
        if (fd !== this.#master) host.close(fd);
      },
    });
    this.#outputs.add(output);
  }
}
