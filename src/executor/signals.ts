/** Signals by name or number. */
import { constants } from "node:os";
import { ExecutorError } from "./errors.ts";

const HIGHEST = 64;

/** "SIGTERM", "TERM", "15" or 15 -> 15. @throws ExecutorError invalid-argument, which names the ones there are */
export function signalNumber(signal: string | number): number {
  const number = typeof signal === "number" || /^\d+$/.test(signal) ? Number(signal) : numberOf(signal);
  if (number !== undefined && Number.isInteger(number) && number >= 1 && number <= HIGHEST) return number;
  throw new ExecutorError("invalid-argument", `unknown signal ${JSON.stringify(signal)}: use a number from 1 to ${HIGHEST} or a name`, {
    names: Object.keys(constants.signals),
  });
}

function numberOf(name: string): number | undefined {
  const upper = name.toUpperCase();
  return (constants.signals as Readonly<Record<string, number>>)[upper.startsWith("SIG") ? upper : `SIG${upper}`];
}

/** "SIGTERM"; a real-time signal is "SIGRTMIN+n". */
export function signalName(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `SIGRTMIN+${number - 34}`;
}
