/** Connects the terminal of this program to another program. */
import { giveBackTerminal, onSignals, raise, takeTerminal as take, windowSize } from "../platform/index.ts";

export interface Terminal {
  readonly size: { readonly rows: number; readonly columns: number };
  /**
   * Ends raw mode, in which every key including ^C goes to the program. A signal that ends this process restores the terminal too, if it can be
   * caught.
   */
  restore(): void;
}

/** Size for a terminal whose size is not known. */
export const USUAL = { rows: 24, columns: 80 };

/** @param resized called with each new size */
export function takeTerminal(resized: (size: Terminal["size"]) => void): Terminal {
  const sizeNow = () => {
    const { rows, columns } = windowSize() ?? USUAL;
    return { rows: rows || USUAL.rows, columns: columns || USUAL.columns };
  };
  take();
  const ignoreSize = onSignals(["SIGWINCH"], () => resized(sizeNow()));
  const ignoreEnds = onSignals(["SIGHUP", "SIGINT", "SIGTERM", "SIGQUIT"], (signal) => {
    restore();
    raise(signal);
  });
  const restore = () => {
    giveBackTerminal();
    ignoreSize();
    ignoreEnds();
  };
  return { size: sizeNow(), restore };
}

const CTRL_P = 0x10;
const CTRL_Q = 0x11;

/** Recognises ^P ^Q, the keys that detach a terminal from a container, as in Docker. */
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
