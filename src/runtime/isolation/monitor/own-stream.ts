/** The container itself: its stdio is this process's, and so are its signals and its end. */
import * as host from "../../host/index.ts";
import { DATA_MOST, encodeSize, type SessionEvent } from "../channel/index.ts";
import { creditedOutlet, Inlet, type Loop, type Outlet } from "../flow/index.ts";
import * as kernel from "../kernel.ts";
import type { Repetition } from "../processes/repetition.ts";
import type { Port } from "./port.ts";

const [STDIN, STDOUT, STDERR] = [0, 1, 2];

export interface OwnStreamOptions {
  readonly terminal: boolean;
  readonly repetition: Repetition;
  readonly ended: (status: number) => void;
}

export class OwnStream {
  readonly stream: number;
  readonly #port: Port;
  readonly #terminal: boolean;
  readonly #outlets: Readonly<Record<"stdout" | "stderr", Outlet>>;
  #started = false;
  /** Signals that came before the program ran. */
  readonly #early: number[] = [];
  #status: number | undefined;
  readonly #ended: (status: number) => void;
  readonly #repetition: Repetition;

  constructor(loop: Loop, port: Port, { terminal, repetition, ended }: OwnStreamOptions) {
    this.#port = port;
    this.#terminal = terminal;
    this.#ended = ended;
    this.#repetition = repetition;
    this.stream = port.session.open()!;
    const outlet = (channel: "stdout" | "stderr", fd: number): Outlet =>
      creditedOutlet(loop, fd, (bytes) => port.release(this.stream, channel, bytes));
    this.#outlets = { stdout: outlet("stdout", STDOUT), stderr: outlet("stderr", STDERR) };
    new Inlet(loop, STDIN, {
      room: () => (this.#started ? Math.min(port.session.stdinLeft(this.stream), DATA_MOST) : 0),
      data: (bytes) => {
        port.session.spendStdin(this.stream, bytes.length);
        port.send("stdin", this.stream, bytes);
      },
      end: () => {
        port.session.closeStdin(this.stream);
        port.send("stdinEnd", this.stream);
      },
    });
  }

  /** The container's program runs, or has run. */
  get started(): boolean {
    return this.#started;
  }

  /** The container is made in the guest; its program may run now. */
  start(): void {
    if (this.#terminal) {
      kernel.makeRaw(STDIN);
      this.#resize();
    }
    this.#port.send("start", this.stream);
  }

  signal(number: number): void {
    if (number === host.signalNumber("WINCH") && this.#terminal) this.#resize();
    else if (!this.#started) this.#early.push(number);
    else this.#port.send("signal", this.stream, new Uint8Array([number]));
  }

  /** To all processes of the container that no process of the host stands for. */
  signalRest(number: number): void {
    if (this.#started) this.#port.send("signalRest", this.stream, new Uint8Array([number]));
  }

  #resize(): void {
    const size = host.windowSize(STDIN);
    if (size) this.#port.send("resize", this.stream, encodeSize(size));
  }

  event(event: SessionEvent): void {
    switch (event.what) {
      case "started":
        this.#started = true;
        for (const number of this.#early) this.signal(number);
        return;
      case "oom":
        this.#repetition.begin();
        return;
      case "output":
        this.#outlets[event.channel].push(event.bytes);
        return;
      case "ended":
        this.#status = event.status;
        return;
      case "failed":
        if (!event.failure.shown) this.#outlets.stderr.push(new Uint8Array(host.utf8Encode(`${event.failure.message}\n`)));
        this.#status = event.failure.status;
    }
  }

  /** Whether everything is done: the program has ended, its output has gone, and engines have seen why it has ended before they see that it has. */
  finish(): void {
    const { stdout, stderr } = this.#outlets;
    if (this.#status !== undefined && stdout.waiting === 0 && stderr.waiting === 0 && !this.#repetition.busy) this.#ended(this.#status);
  }
}
