/** A stream of the guest for a process that joins. It may outlive the process that has asked for it, until another one goes on with it. */
import * as host from "../../host/index.ts";
import { decodeCredit, encodeCredit, encodeFrame, type Frame, type FrameName, ProtocolError, type SessionEvent } from "../channel/index.ts";
import type { Port } from "./port.ts";

const KILL = new Uint8Array([9]);
/** On a connection its stream has this number. */
const STREAM = 1;

/** They begin with an event of a stream of theirs. */
export type PeerEvent = Exclude<SessionEvent, { readonly what: "hello" }>;

/** Where frames for the process go. */
export interface Connection {
  readonly tell: (frame: Uint8Array) => void;
  /** Nothing more comes. */
  readonly end: () => void;
}

export class Peer {
  readonly #port: Port;
  readonly stream: number;
  /** It is a container, which is made first. */
  readonly awaited: boolean;
  #connection: Connection;
  /** What has come for the process that is to go on with it: the windows of the stream bound it. undefined: its own process has it all. */
  #waiting: Uint8Array[] | undefined;
  #made = false;
  #started = false;
  #over = false;
  #abandoned = false;

  /** @throws ProtocolError: there are too many */
  constructor(port: Port, connection: Connection, awaited: boolean) {
    const stream = port.session.open(awaited);
    if (stream === undefined) throw new ProtocolError("too many streams");
    this.#port = port;
    this.#connection = connection;
    this.stream = stream;
    this.awaited = awaited;
  }

  /** A container that is made, or a program that runs, or has run. */
  get made(): boolean {
    return this.#made;
  }

  /** Its program runs, or has run. */
  get started(): boolean {
    return this.#started;
  }

  event(event: PeerEvent): void {
    switch (event.what) {
      case "created":
        this.#made = true;
        this.#tell("created");
        return;
      case "started":
        this.#made = true;
        this.#started = true;
        this.#tell("started");
        return;
      case "oom":
        this.#tell("oom");
        return;
      case "output":
        // Nobody takes it any more. Its bytes are released, so that they do not delay others.
        if (this.#abandoned) this.#port.release(event.stream, event.channel, event.bytes.length);
        else this.#tell(event.channel, event.bytes);
        return;
      case "credit":
        this.#tell("credit", encodeCredit({ channel: "stdin", bytes: event.bytes }));
        return;
      case "ended":
        this.#tell("exit", new Uint8Array([event.status]));
        this.#end();
        return;
      case "failed":
        this.#tell("failed", new Uint8Array(host.utf8Encode(JSON.stringify(event.failure))));
        this.#end();
    }
  }

  /** A frame of the process for the guest. @throws ProtocolError */
  pass({ name, payload }: Frame): void {
    const { session } = this.#port;
    if (!session.isOpen(this.stream)) return;
    if (name === "credit") {
      const { channel, bytes } = decodeCredit(payload);
      if (channel === "stdin") throw new ProtocolError("credit for stdin");
      this.#port.release(this.stream, channel, bytes);
      return;
    }
    if (name === "stdin") {
      if (session.stdinLeft(this.stream) < payload.length) throw new ProtocolError("stdin without credit");
      session.spendStdin(this.stream, payload.length);
    }
    if (name === "stdinEnd") session.closeStdin(this.stream);
    this.#port.send(name, this.stream, payload);
  }

  /** Another process goes on with it. Its own hears only whether it is made: a program may have printed and ended before the guest says that it runs. */
  wait(): void {
    this.#waiting = [];
  }

  goOn(connection: Connection): void {
    const waiting = this.#waiting ?? [];
    this.#connection = connection;
    this.#waiting = undefined;
    if (this.#started) connection.tell(encodeFrame("started", STREAM));
    for (const frame of waiting) connection.tell(frame);
    if (this.#over) connection.end();
  }

  /** Its process has ended: so does what it stands for. */
  abandon(): void {
    this.#abandoned = true;
    if (!this.#port.session.isOpen(this.stream)) return;
    this.#port.send("signal", this.stream, KILL);
    this.#port.forgive(this.stream);
  }

  #tell(name: FrameName, payload?: Uint8Array): void {
    if (this.#abandoned) return;
    const frame = encodeFrame(name, STREAM, payload);
    if (this.#waiting && !this.#isWhetherItIsMade(name)) this.#waiting.push(frame);
    else this.#connection.tell(frame);
  }

  #isWhetherItIsMade(name: FrameName): boolean {
    return name === "created" || name === "started" || (!this.#made && (name === "exit" || name === "failed"));
  }

  #end(): void {
    this.#over = true;
    if (!this.#waiting || !this.#made) this.#connection.end();
  }
}
