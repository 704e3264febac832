/** A container of a pool with its program: it runs once, and cannot be taken again. */
import type { Readable, Writable } from "node:stream";
import { ExecutorError } from "../errors.ts";
import type { Executor } from "../executor.ts";
import type { ProcessState } from "../types.ts";
import { MOST_BYTES, readInside, writeInside } from "./files.ts";
import type { Connection } from "./outbound/connection.ts";

/** "deadline", "aborted" and "output": the pool has ended it. */
export type BoxEnd = "itself" | "deadline" | "aborted" | "output" | "killed";

export interface BoxState extends ProcessState {
  readonly endedBy: BoxEnd;
  /** True: the process that carried its network had ended more than half a second before it, so that it had none any more. */
  readonly networkLost?: boolean;
}

export interface BoxResult extends BoxState {
  /** As much as outputBytes allows. */
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export interface BoxLimits {
  /** 0: none. */
  readonly deadlineMs: number;
  /** Before its monitor had the deadline; of performance.now. */
  readonly claimed: number;
  readonly signal: AbortSignal | undefined;
  /** Of a request with openStdin. */
  readonly stdin: Writable | undefined;
  /** Of a template with a network. */
  readonly connection: Connection | undefined;
  /** Called once, when nothing of it is left. */
  readonly gone: () => void;
}

const SIGKILL = 9;
const MIB = 2 ** 20;

export class Box {
  readonly id: string;
  /** The input of the program, if it was asked for (`openStdin`). The caller ends it. */
  readonly stdin: Writable | undefined;
  readonly #executor: Executor;
  readonly #ended: Promise<BoxState>;
  readonly #connection: Connection | undefined;
  #endedBy: BoxEnd = "itself";
  #isRemoved = false;

  /** @internal Pool makes it, when the program runs. */
  constructor(executor: Executor, { deadlineMs, claimed, signal, stdin, connection, gone }: BoxLimits) {
    this.id = executor.id;
    this.stdin = stdin;
    this.#executor = executor;
    this.#connection = connection;
    const timer = deadlineMs > 0 ? setTimeout(() => void this.#end("deadline"), deadlineMs) : undefined;
    const abort = () => void this.#end("aborted");
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    this.#ended = executor
      .wait()
      .then((state) => {
        // Its monitor has the deadline too, and may be the first.
        const isLate = deadlineMs > 0 && state.signal === SIGKILL && performance.now() - claimed >= deadlineMs;
        if (isLate && this.#endedBy === "itself") this.#endedBy = "deadline";
        return { ...state, endedBy: this.#endedBy, ...(connection?.isLost ? { networkLost: true } : {}) };
      })
      .finally(() => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        connection?.close();
        gone();
      });
    // A caller that does not ask is not ended by it.
    this.#ended.catch(() => {});
  }

  /** Unread output; the program waits when it is not read. */
  get stdout(): Readable {
    return this.#executor.stdout!;
  }

  get stderr(): Readable {
    return this.#executor.stderr!;
  }

  /** The end of the program; then nothing of it is left but output that was not read. */
  wait(): Promise<BoxState> {
    return this.#ended;
  }

  /** End it now, with all its processes. */
  async kill(): Promise<BoxState> {
    await this.#end("killed");
    return this.#ended;
  }

  /**
   * Make or replace a file of the box while its program runs, as the program's user; at most 64 MiB. No link is followed. This makes a process of the host.
   * @throws ExecutorError invalid-argument; wrong-state: it has ended; file-refused
   */
  async write(path: string, content: string | Uint8Array, { mode = 0o644 }: { readonly mode?: number } = {}): Promise<void> {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    if (bytes.length > MOST_BYTES)
      throw new ExecutorError("invalid-argument", `content: more than ${MOST_BYTES} bytes`, { field: "content" });
    if (!Number.isInteger(mode) || mode < 0 || mode > 0o777)
      throw new ExecutorError("invalid-argument", `mode: ${mode}`, { field: "mode" });
    await writeInside(this.#executor.process!, path, bytes, mode);
  }

  /** A regular file of the box while its program runs. No link is followed. Default of maxBytes: 1 MiB. @throws as write */
  async read(path: string, { maxBytes = MIB }: { readonly maxBytes?: number } = {}): Promise<Buffer> {
    if (!Number.isInteger(maxBytes) || maxBytes < 0 || maxBytes > MOST_BYTES)
      throw new ExecutorError("invalid-argument", `maxBytes: use 0 to ${MOST_BYTES}`, { field: "maxBytes" });
    return readInside(this.#executor.process!, path, maxBytes);
  }

  /** Takes all output until the end. More than `most` bytes of one stream end it. */
  async collect(most: number): Promise<BoxResult> {
    const all = async (name: "stdout" | "stderr") => {
      const chunks: Buffer[] = [];
      for await (const chunk of this.output(name, most)) chunks.push(chunk);
      return Buffer.concat(chunks);
    };
    const [stdout, stderr, state] = await Promise.all([all("stdout"), all("stderr"), this.#ended]);
    return { ...state, endedBy: this.#endedBy, stdout, stderr };
  }

  /** The output of one stream, up to `most` bytes. More of it ends the box, and is not passed on. */
  async *output(name: "stdout" | "stderr", most: number): AsyncGenerator<Buffer, void, undefined> {
    let room = most;
    for await (const chunk of this[name] as AsyncIterable<Buffer>) {
      if (room > 0) yield chunk.subarray(0, room);
      room -= chunk.length;
      if (room < 0) await this.#end("output");
    }
  }

  /** Of a template with a network: the process that carried it has ended, so that the box has none any more. It is known half a second later. */
  get networkLost(): boolean {
    return this.#connection?.isLost === true;
  }

  /** Why it has ended, or is being ended. */
  get endedBy(): BoxEnd {
    return this.#endedBy;
  }

  async #end(why: BoxEnd): Promise<void> {
    if (this.#endedBy === "itself" && this.#executor.state !== "exited") this.#endedBy = why;
    try {
      await this.#executor.shutdown({ graceMs: 0 });
    } catch (error) {
      // It is tried again when the pool is closed, or opened anew.
      if (!(error instanceof ExecutorError && error.code === "stuck")) throw error;
    }
  }

  /** `await using box = ...`: ends it, and forgets it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stdin?.destroy();
    await this.#executor.shutdown({ graceMs: 0 });
    await this.#ended;
    if (this.#isRemoved) return;
    this.#isRemoved = true;
    this.#executor.remove();
  }
}
