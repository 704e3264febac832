import { start } from "../../verbs/index.ts";
import type { Verb } from "../context.ts";

export const verb: Verb = ({ options, positionals, warned }) => {
  const id = positionals[0]!;
  const warnings: string[] = [];
  start(options, id, warnings);
  warned({ warnings, demanded: [] });
  return 0;
};
