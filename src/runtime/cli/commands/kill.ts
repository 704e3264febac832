import { RuntError } from "../../errors/index.ts";
import { killBelow } from "../../execute/index.ts";
import * as host from "../../host/index.ts";
import { closeNames } from "../../spec/index.ts";
import { kill, killRunning } from "../../verbs/index.ts";
import type { Verb } from "../context.ts";
import { forEachMatch } from "../select.ts";

export const verb: Verb = ({ options, positionals, flags }) => {
  const [id, word = "TERM"] = positionals as [string, string?];
  const signal = parseSignal(word);
  const all = flags["all"] === true;
  if (flags["cgroup"] !== undefined) killBelow(options.root, id, signal, flags);
  else if (flags["regex"]) forEachMatch(options, id, (match) => killRunning(options, match, signal, all));
  else kill(options, id, signal, all);
  return 0;
};

const MAXIMUM_SIGNAL = 64;

/** A number, or a name in any case with or without SIG. */
function parseSignal(word: string): number {
  const number = /^\d{1,3}$/.test(word) ? Number(word) : host.signalNumber(word.toUpperCase().replace(/^SIG/, ""));
  if (number === undefined || number < 0 || number > MAXIMUM_SIGNAL) throw unknownSignal(word);
  return number;
}

function unknownSignal(word: string): RuntError {
  const close = closeNames(word.toUpperCase().replace(/^SIG/, ""), Object.keys(host.SIGNALS));
  return new RuntError("usage", `unknown signal ${JSON.stringify(word)}`, {
    hint: close.length > 0 ? `did you mean ${close.join(" or ")}?` : `use 0 to ${MAXIMUM_SIGNAL}, or a name such as TERM, KILL, HUP`,
  });
}
