/**
 * What runtd and its clients say to each other on a connection that was upgraded: frames of one byte kind, four bytes length (the highest first), and so
 * many bytes.
 */

/** Value of the header Upgrade. */
export const STREAM_PROTOCOL = "runtd-stream/1";

export const FRAME = {
  // From the client.
  /** JSON: StreamStart. The first frame, and only that. */
  start: 0,
  stdin: 1,
  /** Empty: nothing more comes for stdin. */
  stdinEnd: 2,
  /** JSON: { rows, columns } */
  resize: 3,
  /** Name of a signal. */
  signal: 4,
  /** Of a run in a pool: bytes of its files, in the order of PoolRunStart.files. */
  file: 5,
  // From the daemon.
  /** Empty: the program runs. */
  started: 16,
  stdout: 17,
  stderr: 18,
  /** JSON: StreamEnd. The last frame. */
  end: 19,
  /** JSON: { code, message, exitStatus }. Instead of started, and the last frame. */
  failed: 20,
} as const;

export type FrameKind = (typeof FRAME)[keyof typeof FRAME];

export interface StreamStart {
  readonly command: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly user?: string | undefined;
  /** A terminal, of this size. */
  readonly terminal?: { readonly rows: number; readonly columns: number } | undefined;
  /** Something comes for stdin. */
  readonly stdin?: boolean | undefined;
}

export interface StreamEnd {
  /** 128 + signal when a signal ended it; null: unknown. */
  readonly exitCode: number | null;
}

/** In bytes: all files of a run in a pool together. */
export const LARGEST_FILES = 4 << 20;

/** The first frame of a run in a pool. */
export interface PoolRunStart {
  /** Absent: that of the pool. */
  readonly command?: readonly [string, ...string[]] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  /** Something comes for stdin. */
  readonly stdin?: boolean | undefined;
  readonly deadlineMs?: number | undefined;
  /** Tighter than those of the pool. */
  readonly limits?:
    | { readonly memoryBytes?: number | undefined; readonly cpus?: number | undefined; readonly pids?: number | undefined }
    | undefined;
  /** Their contents follow in frames. */
  readonly files?: readonly { readonly path: string; readonly mode?: number | undefined; readonly bytes: number }[] | undefined;
}

export interface PoolRunEnd extends StreamEnd {
  readonly oomKilled: boolean;
  /** itself: the program has ended. deadline, output: a limit of the pool has ended it. aborted: its client has gone away. killed: the pool was removed. */
  readonly endedBy: "itself" | "deadline" | "aborted" | "output" | "killed";
}

export interface Frame {
  readonly kind: number;
  readonly payload: Uint8Array;
}

export const LARGEST_FRAME = 1 << 20;
const HEADER = 5;

export function frameOf(kind: FrameKind, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER + payload.length);
  bytes[0] = kind;
  new DataView(bytes.buffer).setUint32(1, payload.length);
  bytes.set(payload, HEADER);
  return bytes;
}

/** Puts frames together from what arrives. A frame that comes in small pieces takes no more time than one that comes at once. */
export class FrameReader {
  #bytes = new Uint8Array(0);
  #size = 0;
  /** How many bytes the next frame has, as far as that is known. */
  #needed = HEADER;

  /** The frames that are whole with this. @throws Error: one is larger than LARGEST_FRAME */
  push(chunk: Uint8Array): Frame[] {
    this.#append(chunk);
    if (this.#size < this.#needed) return [];
    const bytes = this.#bytes.subarray(0, this.#size);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const frames: Frame[] = [];
    let at = 0;
    this.#needed = HEADER;
    while (bytes.length - at >= HEADER) {
      const length = view.getUint32(at + 1);
      if (length > LARGEST_FRAME) throw new Error(`a frame of ${length} bytes: ${LARGEST_FRAME} is the most`);
      this.#needed = HEADER + length;
      if (bytes.length - at < this.#needed) break;
      frames.push({ kind: bytes[at]!, payload: bytes.subarray(at + HEADER, at + this.#needed) });
      at += this.#needed;
      this.#needed = HEADER;
    }
    // The frames share the old bytes, which are not written any more.
    this.#bytes = bytes.slice(at);
    this.#size = this.#bytes.length;
    return frames;
  }

  #append(chunk: Uint8Array): void {
    const size = this.#size + chunk.length;
    if (size > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, this.#size));
      this.#bytes = larger;
    }
    this.#bytes.set(chunk, this.#size);
    this.#size = size;
  }
}
