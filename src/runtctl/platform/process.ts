import {
  argv,
  build,
  getenv,
  getpid,
  giveBackTerminal,
  holdSignal,
  isatty,
  nextSignal,
  raise as raiseNumber,
  readSome,
  releaseSignal,
  windowSize as sizeOf,
  takeTerminal as take,
} from "runt:client";
import { readFile } from "./files.ts";
import { forget, POLL, until } from "./loop.ts";

export const { version } = build;

export function variable(name: string): string | undefined {
  return getenv(name);
}

/** In bytes; more than execve(2) accepts. */
const LARGEST_ENVIRONMENT = 64 * 1024 * 1024;

/** All environment variables. */
export function environment(): Readonly<Record<string, string>> {
  const text = Buffer.from(readFile("/proc/self/environ", LARGEST_ENVIRONMENT)).toString();
  const pairs = text.split("\0").flatMap((entry) => {
    const at = entry.indexOf("=", 1);
    return at < 0 ? [] : [[entry.slice(0, at), entry.slice(at + 1)] as const];
  });
  // If a variable is given twice, the first value counts, as for getenv(3).
  return Object.fromEntries(pairs.reverse());
}

export function ownPid(): number {
  return getpid();
}

/** Arguments of the command line, without the program. */
export function words(): readonly string[] {
  return argv().slice(1);
}

const STDIN = 0;
const STDOUT = 1;
const PIECE = 64 * 1024;

export { giveBackTerminal };

/** Whether standard input is a terminal. */
export function isTerminal(): boolean {
  return isatty(STDIN);
}

/** Every key goes to this program, until giveBackTerminal or the end of the program. */
export function takeTerminal(): void {
  take(STDIN);
}

/** Size of the terminal on standard output; undefined: it is no terminal. */
export function windowSize(): { readonly rows: number; readonly columns: number } | undefined {
  return sizeOf(STDOUT);
}

/** Next bytes of standard input; undefined: the input has ended, or `isOver` has become true while waiting. */
export async function readStdin(isOver: () => boolean): Promise<Uint8Array | undefined> {
  for (;;) {
    await until(STDIN, POLL.in);
    // Bytes that are already there stay in the input for the next reader.
    if (isOver()) return undefined;
    const piece = readSome(STDIN, PIECE);
    if (piece !== undefined) return piece.byteLength === 0 ? undefined : new Uint8Array(piece);
  }
}

const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGTERM: 15, SIGWINCH: 28 } as const;

export type SignalName = keyof typeof NUMBERS;
type Handler = (name: SignalName) => void;

interface Held {
  readonly fd: number;
  readonly handlers: Set<Handler>;
}

const held = new Map<SignalName, Held>();

/** Calls `handler` for these signals, which then do not end the program. Returns a function that removes the handler. */
export function onSignals(names: readonly SignalName[], handler: Handler): () => void {
  // Each registration is separate, even for the same function.
  const own: Handler = (name) => handler(name);
  for (const name of names) hold(name).handlers.add(own);
  return () => {
    for (const name of names) release(name, own);
  };
}

function hold(name: SignalName): Held {
  const before = held.get(name);
  if (before !== undefined) return before;
  const one = { fd: holdSignal(NUMBERS[name]), handlers: new Set<Handler>() };
  held.set(name, one);
  void listen(name, one);
  return one;
}

async function listen(name: SignalName, one: Held): Promise<void> {
  while (held.get(name) === one) {
    await until(one.fd, POLL.in);
    while (held.get(name) === one && nextSignal(one.fd) !== 0) for (const handler of [...one.handlers]) handler(name);
  }
}

function release(name: SignalName, handler: Handler): void {
  const one = held.get(name);
  if (!one?.handlers.delete(handler) || one.handlers.size > 0) return;
  held.delete(name);
  forget(one.fd);
  releaseSignal(NUMBERS[name], one.fd);
}

/** Sends the signal to this program. Without another handler the signal ends the program. */
export function raise(name: SignalName): void {
  raiseNumber(NUMBERS[name]);
}
