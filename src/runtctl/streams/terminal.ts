/** Connects the terminal of this program to another program. */
import { giveBackTerminal, onSignals, raise, takeTerminal as take, windowSize } from "../platform/index.ts";

export interface Terminal {
  readonly size: { readonly rows: number; readonly columns: number };
  /** Ends raw mode, in which every key including ^C goes to the program. A signal that ends this process restores the terminal too, if it can be caught. */
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
