import { pause } from "../../verbs/pause.ts";
import type { Verb } from "../context.ts";

export const verb: Verb = ({ options, positionals }) => {
  pause(options, positionals[0]!);
  return 0;
};
