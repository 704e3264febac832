import { pause } from "../../verbs/index.ts";
import type { Verb } from "../context.ts";

export const verb: Verb = ({ options, positionals }) => {
  pause(options, positionals[0]!);
  return 0;
};
