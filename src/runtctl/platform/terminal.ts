/** The standard input, and the terminal that it may be. */
import { giveBackTerminal, isatty, readSome, windowSize as sizeOf, takeTerminal as take } from "runt:client";
import { POLL, until } from "./loop.ts";

const STDIN = 0;
const STDOUT = 1;
const PIECE = 64 * 1024;

export { giveBackTerminal };

/** Of the standard input. */
export function isTerminal(): boolean {
  return isatty(STDIN);
}

/** Every key goes to this program, until giveBackTerminal or its end. */
export function takeTerminal(): void {
  take(STDIN);
}

/** Of the terminal that the standard output is; undefined: it is none. */
export function windowSize(): { readonly rows: number; readonly columns: number } | undefined {
  return sizeOf(STDOUT);
}

/** What comes next of the standard input; undefined: nothing does, or `isOver` while it was waited for. */
export async function readStdin(isOver: () => boolean): Promise<Uint8Array | undefined> {
  for (;;) {
    await until(STDIN, POLL.in);
    // What is there stays there for whoever reads it next.
    if (isOver()) return undefined;
    const piece = readSome(STDIN, PIECE);
    if (piece !== undefined) return piece.byteLength === 0 ? undefined : new Uint8Array(piece);
  }
}
