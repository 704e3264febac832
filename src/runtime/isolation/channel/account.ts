/** Credit of one channel of bytes: how much may be sent, and how much may come. */
import { ProtocolError, WINDOW } from "./frame.ts";

/** Of the side that sends. */
export class Allowance {
  #left = WINDOW;

  get left(): number {
    return this.#left;
  }

  spend(bytes: number): void {
    this.#left -= bytes;
  }

  /** @throws ProtocolError: more than was ever sent */
  grant(bytes: number): void {
    if (bytes === 0 || this.#left + bytes > WINDOW) throw new ProtocolError(`credit of ${bytes} bytes beside ${this.#left}`);
    this.#left += bytes;
  }
}

/** Of the side that receives. */
export class Duty {
  #held = 0;

  /** @throws ProtocolError: more than there was credit for */
  arrive(bytes: number): void {
    if (this.#held + bytes > WINDOW) throw new ProtocolError(`${bytes} bytes beside ${this.#held} without credit`);
    this.#held += bytes;
  }

  /** So much credit is given back. @throws ProtocolError: for more than came */
  release(bytes: number): void {
    if (bytes === 0 || bytes > this.#held) throw new ProtocolError(`credit of ${bytes} bytes for ${this.#held}`);
    this.#held -= bytes;
  }

  /** Bytes that came, for which no credit was given back. */
  get held(): number {
    return this.#held;
  }
}
