import { resume } from "../../verbs/pause.ts";
import type { Verb } from "../context.ts";

export const verb: Verb = ({ options, positionals }) => {
  resume(options, positionals[0]!);
  return 0;
};
