import { start } from "../../container/start.ts";
import type { Verb } from "../context.ts";

export const verb: Verb = ({ options, positionals }) => {
  const id = positionals[0]!;
  start(options, id);
  return 0;
};
