/** Processes that join: each is connected to the monitor's socket, and has a stream of its own in the guest. */
import * as host from "../../host/index.ts";
import { decodeCredit, encodeCredit, encodeFrame, type Frame, FrameDecoder, ProtocolError, type SessionEvent } from "../channel/index.ts";
import { Inlet, type Loop, Outlet } from "../flow/index.ts";
import * as kernel from "../kernel.ts";
import type { Port } from "./port.ts";

const READ_AT_ONCE = 65_536;
const KILL = new Uint8Array([9]);

/** One process, and its stream. On its connection the stream has the number 1. */
class Client {
  readonly #port: Port;
  readonly #outlet: Outlet;
  readonly #inlet: Inlet;
  readonly #decoder = new FrameDecoder("host");
  readonly #opened: (stream: number, client: Client) => void;
  #stream: number | undefined;
  #gone = false;

  constructor(loop: Loop, fd: number, port: Port, opened: (stream: number, client: Client) => void) {
    this.#port = port;
    this.#opened = opened;
    kernel.setNonBlocking(fd);
    const close = (): void => this.#leave();
    this.#outlet = new Outlet(loop, fd, { atOnce: READ_AT_ONCE, broken: close });
    this.#inlet = new Inlet(loop, fd, { room: () => READ_AT_ONCE, data: (bytes) => this.#receive(bytes), end: close });
  }

  event(event: SessionEvent): void {
    switch (event.what) {
      case "started":
        this.#tell("started");
        return;
      case "output":
        // A client that has left takes no more output. Its bytes are released, so that they do not delay other clients.
        if (this.#gone) this.#port.release(event.stream, event.channel, event.bytes.length);
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

  #tell(name: Parameters<typeof encodeFrame>[0], payload?: Uint8Array): void {
    if (!this.#gone) this.#outlet.push(encodeFrame(name, 1, payload));
  }

  #receive(bytes: Uint8Array): void {
    try {
      for (const frame of this.#decoder.push(bytes)) this.#pass(frame);
    } catch (error) {
      // What is no process of runt's own is not served any more. The machine goes on.
      if (!(error instanceof ProtocolError) && !(error instanceof RangeError)) throw error;
      this.#leave();
    }
  }

  #pass({ name, payload }: Frame): void {
    const { session } = this.#port;
    if (name === "open") {
      if (this.#stream !== undefined) throw new ProtocolError("a second stream");
      this.#stream = session.open();
      if (this.#stream === undefined) throw new ProtocolError("too many streams");
      this.#opened(this.#stream, this);
    }
    const stream = this.#stream;
    if (stream === undefined) throw new ProtocolError(`a frame ${name} before the stream`);
    if (!session.isOpen(stream)) return;
    if (name === "credit") {
      const { channel, bytes } = decodeCredit(payload);
      if (channel === "stdin") throw new ProtocolError("credit for stdin");
      this.#port.release(stream, channel, bytes);
      return;
    }
    if (name === "stdin") {
      if (session.stdinLeft(stream) < payload.length) throw new ProtocolError("stdin without credit");
      session.spendStdin(stream, payload.length);
    }
    if (name === "stdinEnd") session.closeStdin(stream);
    this.#port.send(name, stream, payload);
  }

  /** Its process has ended: so does what it stands for. */
  #leave(): void {
    if (this.#gone) return;
    if (this.#stream !== undefined && this.#port.session.isOpen(this.#stream)) {
      this.#port.send("signal", this.#stream, KILL);
      this.#port.forgive(this.#stream);
    }
    this.#end();
  }

  #end(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#inlet.stop();
    this.#outlet.end();
  }
}

/** They begin with an event of a stream of theirs. */
type ClientEvent = Exclude<SessionEvent, { readonly what: "hello" | "created" }>;

export class Clients {
  readonly #streams = new Map<number, Client>();

  /** `fd` listens. `serves`: whether the container runs by now; before that they wait. */
  constructor(loop: Loop, fd: number, port: Port, serves: () => boolean) {
    const opened = (stream: number, client: Client): void => void this.#streams.set(stream, client);
    loop.add({
      fd,
      wants: () => (serves() ? host.POLL.IN : 0),
      ready: () => void new Client(loop, kernel.accept(fd), port, opened),
    });
  }

  event(event: ClientEvent): void {
    this.#streams.get(event.stream)?.event(event);
    if (event.what === "ended" || event.what === "failed") this.#streams.delete(event.stream);
  }
}
