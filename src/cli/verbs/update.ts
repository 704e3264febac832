import { update } from "../../container/update.ts";
import type { Verb } from "../context.ts";
import { updateResources } from "../update-resources.ts";

export const verb: Verb = ({ options, positionals, flags }) => {
  update(options, positionals[0]!, updateResources(flags));
  return 0;
};
