import { kill } from "../../container/kill.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import type { Verb } from "../context.ts";

export const verb: Verb = ({ options, positionals, flags }) => {
  const [id, signal = "TERM"] = positionals as [string, string?];
  kill(options, id, parseSignal(signal), flags["all"] === true);
  return 0;
};

const MAXIMUM_SIGNAL = 64;

/** A number, or a name in any case with or without SIG. */
function parseSignal(word: string): number {
  const number = /^\d{1,3}$/.test(word) ? Number(word) : host.signalNumber(word.toUpperCase().replace(/^SIG/, ""));
  if (number === undefined || number < 0 || number > MAXIMUM_SIGNAL) throw new RuntError("usage", `unknown signal ${JSON.stringify(word)}`);
  return number;
}
