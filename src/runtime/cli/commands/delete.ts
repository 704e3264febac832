import { remove } from "../../verbs/delete.ts";
import { forEachMatch } from "../../verbs/select.ts";
import type { Verb } from "../context.ts";

export const verb: Verb = ({ options, positionals, flags }) => {
  const id = positionals[0]!;
  const force = flags["force"] === true;
  const state = flags["state-fd"] as number | undefined;
  if (flags["regex"]) forEachMatch(options, id, (match) => remove(options, match, force));
  else remove(options, id, force, state);
  return 0;
};
