import { remove } from "../../verbs/index.ts";
import type { Verb } from "../context.ts";
import { forEachMatch } from "../select.ts";

export const verb: Verb = ({ options, positionals, flags }) => {
  const id = positionals[0]!;
  const force = flags["force"] === true;
  const state = flags["state-fd"] as number | undefined;
  if (flags["regex"]) forEachMatch(options, id, (match) => remove(options, match, force));
  else remove(options, id, force, state);
  return 0;
};
