import { RuntError } from "../../errors/index.ts";
import { changeMounts } from "../../verbs/index.ts";
import { absolutePath, type Verb } from "../context.ts";

export const verb: Verb = ({ options, positionals }) => {
  const [action, id, file] = positionals as [string, string, string];
  if (action !== "add" && action !== "remove") throw new RuntError("usage", `mounts: unknown command "${action}": use add or remove`);
  changeMounts(options, id, action, absolutePath(file));
  return 0;
};
