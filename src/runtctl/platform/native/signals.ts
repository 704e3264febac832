import { holdSignals, nextSignal, releaseSignals } from "runt:client";
import { POLL, until } from "./loop.ts";

/** SIGINT and SIGTERM. */
const ENDING = [2, 15] as const;

/** Calls `handler` for SIGINT and SIGTERM, which do not end the program meanwhile. Returns how to stop that. */
export function onEndingSignals(handler: () => void): () => void {
  const signals = holdSignals(ENDING);
  let isOver = false;
  const listen = async () => {
    while ((await until(signals, POLL.in)) !== 0 && !isOver) while (nextSignal(signals) !== 0) handler();
  };
  void listen();
  return () => {
    isOver = true;
    releaseSignals(ENDING, signals);
  };
}
