/** ^P ^Q: the keys with which a terminal is taken away from a container, as in Docker. */

const CTRL_P = 0x10;
const CTRL_Q = 0x11;

export class DetachKeys {
  readonly #detach: () => void;
  /** ^P was typed and is held back. */
  #isHalf = false;

  /** @param detach is called when both were typed */
  constructor(detach: () => void) {
    this.#detach = detach;
  }

  /** What of it goes to the container: a ^P that no ^Q follows comes with the next key. */
  take(chunk: Buffer): Buffer {
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
    return Buffer.from(bytes);
  }
}
