import { holdSignal, nextSignal, raise as raiseNumber, releaseSignal } from "runt:client";
import { forget, POLL, until } from "./loop.ts";

const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGTERM: 15, SIGWINCH: 28 } as const;

export type SignalName = keyof typeof NUMBERS;
type Handler = (name: SignalName) => void;

interface Held {
  readonly fd: number;
  readonly handlers: Set<Handler>;
}

const held = new Map<SignalName, Held>();

/** Calls `handler` for these signals, which do not end the program meanwhile. Returns how to stop that. */
export function onSignals(names: readonly SignalName[], handler: Handler): () => void {
  // Each call is one of its own, also with the same function.
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

/** Sends the signal to this program, which it ends unless another handler has it. */
export function raise(name: SignalName): void {
  raiseNumber(NUMBERS[name]);
}
