/**
 * The frames between a host and the machine that it has started: twelve bytes of header (length of the payload, kind, three zeros, number of the
 * stream; little endian), then the payload. Each side knows which kinds the other may send, and how long each may be.
 *
 * The guest is hostile: what does not fit ends the machine, and nothing is ever kept beyond one frame.
 */

export const HEADER = 12;

/** Bytes of data that one frame carries. */
export const DATA_MOST = 16_384;
/** Bytes of data that a sender may have under way on one channel of a stream before it is given credit. */
export const WINDOW = 65_536;

interface Shape {
  readonly number: number;
  readonly from: "host" | "guest" | "both";
  /** Most bytes of payload. */
  readonly most: number;
  /** Fewest bytes; the same as the most unless given. */
  readonly fewest?: number;
}

const shapes = <Name extends string>(table: Readonly<Record<Name, Shape>>): Readonly<Record<Name, Shape>> => table;

/** What each frame is, its number and its bounds. */
export const FRAMES = shapes({
  /** JSON: Hello. The first frame of the guest, on stream 0. */
  hello: { number: 1, from: "guest", most: 4096, fewest: 2 },
  /** JSON: Opening. A new stream. */
  open: { number: 2, from: "host", most: 8 << 20, fewest: 2 },
  stdin: { number: 3, from: "host", most: DATA_MOST, fewest: 1 },
  /** Nothing more comes for stdin. */
  stdinEnd: { number: 4, from: "host", most: 0 },
  /** Rows and columns, two bytes each. */
  resize: { number: 5, from: "host", most: 4 },
  /** One byte: the number of the signal. */
  signal: { number: 6, from: "host", most: 1 },
  /** The same for all processes of a container that have no stream. */
  signalRest: { number: 18, from: "host", most: 1 },
  /** The program runs. */
  started: { number: 7, from: "guest", most: 0 },
  stdout: { number: 8, from: "guest", most: DATA_MOST, fewest: 1 },
  stderr: { number: 9, from: "guest", most: DATA_MOST, fewest: 1 },
  /** One byte: the exit status. The last frame of the stream. */
  exit: { number: 10, from: "guest", most: 1 },
  /** JSON: Failure. Instead of `started`, and the last frame of the stream. */
  failed: { number: 11, from: "guest", most: 32_768, fewest: 2 },
  /** The container is made, and its program waits. */
  created: { number: 13, from: "guest", most: 0 },
  /** It may run now. */
  start: { number: 14, from: "host", most: 0 },
  /** The same as open, for a container: it is made first. */
  make: { number: 15, from: "host", most: 8 << 20, fewest: 2 },
  /** For the monitor, of a process that joins: its stream stays under this name when its connection ends. */
  keep: { number: 16, from: "host", most: 1024, fewest: 1 },
  /** For the monitor, instead of a new stream: the one that was kept under this name. */
  adopt: { number: 17, from: "host", most: 1024, fewest: 1 },
  /** The guest's kernel has killed a process of the container for lack of memory. */
  oom: { number: 19, from: "guest", most: 0 },
  /** For the monitor, instead of a stream: what the guest has printed on its console, as stdout and exit. One byte: 1: and what it prints from now on. */
  console: { number: 20, from: "host", most: 1 },
  /** Four bytes: so much more may be sent of the other side's channel; one byte: which (CHANNEL). */
  credit: { number: 12, from: "both", most: 5 },
});

export type FrameName = keyof typeof FRAMES;

export interface Frame {
  readonly name: FrameName;
  readonly stream: number;
  readonly payload: Uint8Array;
}

/** The other side has sent what no frame of its is. */
export class ProtocolError extends Error {}

const NAMES = new Map((Object.keys(FRAMES) as FrameName[]).map((name) => [FRAMES[name].number, name]));
const NOTHING = new Uint8Array(0);

export function encodeFrame(name: FrameName, stream: number, payload: Uint8Array = NOTHING): Uint8Array {
  const { number, most, fewest = most } = FRAMES[name];
  if (payload.length > most || payload.length < fewest) throw new RangeError(`a frame ${name} of ${payload.length} bytes`);
  const bytes = new Uint8Array(HEADER + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, payload.length, true);
  view.setUint8(4, number);
  view.setUint32(8, stream, true);
  bytes.set(payload, HEADER);
  return bytes;
}

/** Puts the frames of one side together from what arrives of it. */
export class FrameDecoder {
  readonly #from: "host" | "guest";
  /** The beginning of a frame whose rest has not arrived, in a buffer that is as large as the frame will be. */
  #begun: Uint8Array = new Uint8Array(HEADER);
  #have = 0;
  #whole = HEADER;

  constructor(from: "host" | "guest") {
    this.#from = from;
  }

  /** The frames that are whole with this. @throws ProtocolError */
  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    let at = 0;
    while (at < chunk.length) {
      const take = Math.min(chunk.length - at, this.#whole - this.#have);
      this.#begun.set(chunk.subarray(at, at + take), this.#have);
      this.#have += take;
      at += take;
      if (this.#have === HEADER && this.#whole === HEADER) this.#makeRoom();
      if (this.#have === this.#whole) frames.push(this.#finish());
    }
    return frames;
  }

  /** Whether nothing of a frame has come whose rest has not. */
  get atRest(): boolean {
    return this.#have === 0;
  }

  /** So many bytes finish the frame that has begun, or its header. */
  get missing(): number {
    return this.#whole - this.#have;
  }

  #makeRoom(): void {
    const length = this.#header().length;
    if (length === 0) return;
    const room = new Uint8Array(HEADER + length);
    room.set(this.#begun);
    this.#begun = room;
    this.#whole = room.length;
  }

  #finish(): Frame {
    const { name, stream } = this.#header();
    const payload = this.#begun.slice(HEADER, this.#whole);
    this.#begun = new Uint8Array(HEADER);
    this.#have = 0;
    this.#whole = HEADER;
    return { name, stream, payload };
  }

  #header(): { readonly name: FrameName; readonly stream: number; readonly length: number } {
    const view = new DataView(this.#begun.buffer);
    const [length, kind, stream] = [view.getUint32(0, true), view.getUint8(4), view.getUint32(8, true)];
    const name = NAMES.get(kind);
    if (name === undefined) throw new ProtocolError(`a frame of kind ${kind}`);
    const { from, most, fewest = most } = FRAMES[name];
    if (from !== "both" && from !== this.#from) throw new ProtocolError(`a frame ${name} from the ${this.#from}`);
    if (length > most || length < fewest) throw new ProtocolError(`a frame ${name} of ${length} bytes`);
    if (view.getUint8(5) !== 0 || view.getUint16(6) !== 0) throw new ProtocolError(`a frame ${name} with more in its header`);
    return { name, stream, length };
  }
}
