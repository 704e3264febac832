/** Processes that join: each is connected to the monitor's socket, and has a stream of its own in the guest. */
import * as host from "../../host/index.ts";
import { DATA_MOST, encodeFrame, type Failure, type Frame, FrameDecoder, ProtocolError } from "../channel/index.ts";
import { Inlet, type Loop, Outlet } from "../flow/index.ts";
import * as kernel from "../kernel.ts";
import { type ConsoleLog, consoleBytes } from "../processes/console-log.ts";
import { type Connection, Peer, type PeerEvent } from "./peer.ts";
import type { Port } from "./port.ts";

const READ_AT_ONCE = 65_536;
const STREAM = 1;
/** How long a program that runs waits for its process on the host. */
const KEPT_MS = 60_000;
/** A reader of the console that is slower than the guest prints loses what is more than this. */
const CONSOLE_WAITING_MOST = 1 << 20;

/** What clients ask for. */
export interface Served {
  readonly port: Port;
  readonly console: ConsoleLog;
}

/** The streams that there are. */
interface Streams extends Served {
  readonly loop: Loop;
  readonly open: Map<number, Peer>;
  /** Those that wait for a process to go on with them. */
  readonly kept: Map<string, Peer>;
}

class Client implements Connection {
  readonly #streams: Streams;
  readonly #outlet: Outlet;
  readonly #inlet: Inlet;
  readonly #decoder = new FrameDecoder("host");
  #peer: Peer | undefined;
  /** The stream stays under this name. */
  #name: string | undefined;
  /** It reads the console, until this is called. */
  #endConsole: (() => void) | undefined;
  #gone = false;

  constructor(fd: number, streams: Streams) {
    this.#streams = streams;
    kernel.setNonBlocking(fd);
    const close = (): void => this.#leave();
    this.#outlet = new Outlet(streams.loop, fd, { atOnce: READ_AT_ONCE, broken: close });
    this.#inlet = new Inlet(streams.loop, fd, { room: () => READ_AT_ONCE, data: (bytes) => this.#receive(bytes), end: close });
  }

  tell(frame: Uint8Array): void {
    if (!this.#gone) this.#outlet.push(frame);
  }

  end(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#endConsole?.();
    this.#inlet.stop();
    this.#outlet.end();
  }

  #receive(bytes: Uint8Array): void {
    try {
      for (const frame of this.#decoder.push(bytes)) if (!this.#gone) this.#pass(frame);
    } catch (error) {
      // What is no process of runt's own is not served any more. The machine goes on.
      if (!(error instanceof ProtocolError) && !(error instanceof RangeError)) throw error;
      this.#leave();
    }
  }

  #pass(frame: Frame): void {
    const { name, payload } = frame;
    const isFirst = name === "open" || name === "make" || name === "adopt" || name === "console";
    if (this.#endConsole) throw new ProtocolError(`a frame ${name} of one that reads the console`);
    if (isFirst !== (this.#peer === undefined)) throw new ProtocolError(`a frame ${name} ${isFirst ? "of a second" : "without a"} stream`);
    if (name === "console") this.#showConsole(payload[0] === 1);
    else if (name === "adopt") this.#adopt(text(payload));
    else if (name === "keep") this.#keep(text(payload));
    else {
      if (isFirst) {
        this.#peer = new Peer(this.#streams.port, this, name === "make");
        this.#streams.open.set(this.#peer.stream, this.#peer);
      }
      this.#peer!.pass(frame);
    }
  }

  #showConsole(follows: boolean): void {
    const { console } = this.#streams;
    const show = (text: string): void => {
      for (let at = 0; at < text.length; at += DATA_MOST) {
        if (this.#outlet.waiting > CONSOLE_WAITING_MOST) return;
        this.tell(encodeFrame("stdout", STREAM, consoleBytes(text.slice(at, at + DATA_MOST))));
      }
    };
    this.#endConsole = follows ? console.listen(show) : () => {};
    this.tell(encodeFrame("started", STREAM));
    show(console.text);
    if (follows) return;
    this.tell(encodeFrame("exit", STREAM, new Uint8Array([0])));
    this.end();
  }

  #keep(name: string): void {
    if (this.#streams.kept.has(name)) throw new ProtocolError(`a second stream under the name ${name}`);
    const peer = this.#peer!;
    this.#streams.kept.set(name, peer);
    this.#name = name;
    peer.wait();
    // A container waits for its start, a program that runs does not, and neither does a shell of the guest: a name with a blank is no container's id.
    if (!peer.awaited || name.includes(" ")) this.#streams.loop.setAlarm(KEPT_MS, () => this.#forget(name, peer), name);
  }

  /** Nobody is going to go on with it. */
  #forget(name: string, peer: Peer): void {
    if (this.#streams.kept.get(name) !== peer) return;
    this.#streams.kept.delete(name);
    peer.abandon();
  }

  #adopt(name: string): void {
    const peer = this.#streams.kept.get(name);
    if (peer === undefined) {
      const failure: Failure = { message: `runt: machine: it has no ${name} that could be started`, status: 125, shown: false };
      this.tell(encodeFrame("failed", STREAM, new Uint8Array(host.utf8Encode(JSON.stringify(failure)))));
      this.end();
      return;
    }
    this.#streams.kept.delete(name);
    this.#streams.loop.setAlarm(undefined, undefined, name);
    this.#peer = peer;
    peer.goOn(this);
  }

  #leave(): void {
    if (this.#gone) return;
    this.end();
    if (this.#name === undefined) this.#peer?.abandon();
    else if (!this.#peer!.made) this.#forget(this.#name, this.#peer!);
  }
}

export class Clients {
  readonly #streams: Streams;

  /** `fd` listens. `serves`: whether the container runs by now; before that they wait. */
  constructor(loop: Loop, fd: number, served: Served, serves: () => boolean) {
    const streams = { loop, ...served, open: new Map<number, Peer>(), kept: new Map<string, Peer>() };
    this.#streams = streams;
    loop.add({ fd, wants: () => (serves() ? host.POLL.IN : 0), ready: () => void new Client(kernel.accept(fd), streams) });
  }

  event(event: PeerEvent): void {
    const { kept, open } = this.#streams;
    const peer = open.get(event.stream);
    peer?.event(event);
    if (event.what !== "ended" && event.what !== "failed") return;
    open.delete(event.stream);
    // Nobody can go on with what has ended before it began.
    for (const [name, each] of kept) if (each === peer && !each.started) kept.delete(name);
  }
}

function text(payload: Uint8Array): string {
  try {
    return host.utf8Decode(payload.buffer as ArrayBuffer, payload.byteOffset, payload.length);
  } catch {
    throw new ProtocolError("a name that is not UTF-8");
  }
}
