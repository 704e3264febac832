/** Connects the terminal of this program to another program. */
import type { ReadStream } from "node:tty";

const ENDING: readonly NodeJS.Signals[] = ["SIGHUP", "SIGINT", "SIGTERM", "SIGQUIT"];

export interface Terminal {
  readonly size: { readonly rows: number; readonly columns: number };
  /** Ends raw mode, in which every key including ^C goes to the program. A signal that ends this process restores the terminal too, if it can be caught. */
  restore(): void;
}

/** Size for a terminal whose size is not known. */
export const USUAL = { rows: 24, columns: 80 };

/** @param resized called with each new size */
export function takeTerminal(stdin: ReadStream, stdout: NodeJS.WriteStream, resized: (size: Terminal["size"]) => void): Terminal {
  const sizeNow = () => ({ rows: stdout.rows || USUAL.rows, columns: stdout.columns || USUAL.columns });
  const tell = () => resized(sizeNow());
  const restore = () => {
    stdin.setRawMode(false);
    stdout.off("resize", tell);
    process.off("exit", restore);
    for (const signal of ENDING) process.off(signal, end);
  };
  const end = (signal: NodeJS.Signals) => {
    restore();
    process.kill(process.pid, signal);
  };
  stdin.setRawMode(true);
  stdout.on("resize", tell);
  process.once("exit", restore);
  for (const signal of ENDING) process.on(signal, end);
  return { size: sizeNow(), restore };
}
