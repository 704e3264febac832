/** Recognises ^P ^Q, the keys that detach a terminal from a container, as in Docker. */

const CTRL_P = 0x10;
const CTRL_Q = 0x11;

export class DetachKeys {
  readonly #detach: () => void;
  /** Whether ^P was typed and not passed on yet. */
  #isHalf = false;

  /** @param detach called after both keys */
  constructor(detach: () => void) {
    this.#detach = detach;
  }

  /** Returns the bytes for the container. A ^P without ^Q is sent together with the next key. */
  take(chunk: Uint8Array): Uint8Array {
    const bytes: number[] = [];
    for (const byte of chunk) {
      if (this.#isHalf && byte === CTRL_Q) {
        this.#isHalf = false;
        this.#detach();
        break;
      }
      if (this.#isHalf) bytes.push(CTRL_P);
      this.#isHalf = byte === CTRL_P;
      if (!this.#isHalf) bytes.push(byte);
    }
    return Uint8Array.from(bytes);
  }
}
