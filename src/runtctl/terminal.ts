/** The terminal that this program runs on, handed to another program and taken back. */
import type { ReadStream } from "node:tty";

const ENDING: readonly NodeJS.Signals[] = ["SIGHUP", "SIGINT", "SIGTERM", "SIGQUIT"];

export interface Terminal {
  readonly size: { readonly rows: number; readonly columns: number };
  /** Each key goes to the program, ^C too, until `restore`; the terminal is restored, too, when this process is ended by a signal it can take. */
  restore(): void;
}

/** Of a terminal that does not know its size. */
export const USUAL = { rows: 24, columns: 80 };

/** @param resized is told of a new size */
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
