import { resume } from "../../verbs/index.ts";
import type { Verb } from "../context.ts";

export const verb: Verb = ({ options, positionals }) => {
  resume(options, positionals[0]!);
  return 0;
};
