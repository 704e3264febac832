/** A further process whose output is collected. */
import { ExecHandle, type ExecTarget } from "./handle.ts";
import { DEFAULT_RING, type ExecRequest, type ExecResult } from "./request.ts";

/** @throws what ExecHandle.wait throws */
export async function exec(target: ExecTarget, request: ExecRequest): Promise<ExecResult> {
  const { input, ringBytes = DEFAULT_RING, separate = false } = request;
  const handle = await ExecHandle.start(target, request, { stdin: input === undefined ? "null" : "pipe" }, true);
  const output = new Ring(ringBytes);
  const error = separate ? new Ring(ringBytes) : output;
  handle.stdout?.on("data", (chunk: Buffer) => output.push(chunk));
  handle.stderr?.on("data", (chunk: Buffer) => error.push(chunk));
  handle.stdin?.end(input);
  const end = await handle.wait();
  return { ...end, output: output.bytes(), outputBytes: output.total, ...(separate ? { stderr: error.bytes() } : {}) };
}

/** The last bytes of a stream. */
export class Ring {
  readonly #size: number;
  #chunks: Buffer[] = [];
  #held = 0;
  /** Bytes that have come in all. */
  total = 0;

  constructor(size: number) {
    this.#size = size;
  }

  push(chunk: Buffer): void {
    this.total += chunk.length;
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    while (this.#held - (this.#chunks[0]?.length ?? 0) >= this.#size && this.#chunks.length > 1) this.#held -= this.#chunks.shift()!.length;
  }

  bytes(): Buffer {
    const all = Buffer.concat(this.#chunks);
    return this.#size === 0 ? Buffer.alloc(0) : all.subarray(Math.max(0, all.length - this.#size));
  }
}
