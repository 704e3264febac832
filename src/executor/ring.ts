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
