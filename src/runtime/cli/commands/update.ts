import { update } from "../../verbs/index.ts";
import type { Verb } from "../context.ts";
import { updateResources, updateSchemata } from "../update-resources.ts";

export const verb: Verb = ({ options, positionals, flags }) => {
  update(options, positionals[0]!, { resources: updateResources(flags), schemata: updateSchemata(flags) });
  return 0;
};
