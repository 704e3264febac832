/** Signals by name or number. */
import { SIGNALS, signalName as shortName, signalNumber as shortNumber } from "../shared/linux/index.ts";
import { ExecutorError } from "./errors.ts";

const HIGHEST = 64;

/** "SIGTERM", "TERM", "15" or 15 -> 15. @throws ExecutorError invalid-argument, which names the ones there are */
export function signalNumber(signal: string | number): number {
  const number = typeof signal === "number" || /^\d+$/.test(signal) ? Number(signal) : numberOf(signal);
  if (number !== undefined && Number.isInteger(number) && number >= 1 && number <= HIGHEST) return number;
  throw new ExecutorError("invalid-argument", `unknown signal ${JSON.stringify(signal)}: use a number from 1 to ${HIGHEST} or a name`, {
    names: Object.keys(SIGNALS).map((name) => `SIG${name}`),
  });
}

function numberOf(name: string): number | undefined {
  return shortNumber(name.toUpperCase().replace(/^SIG/, ""));
}

/** "SIGTERM"; a real-time signal is "SIGRTMIN+n". */
export function signalName(number: number): string {
  return `SIG${shortName(number) ?? number}`;
}
