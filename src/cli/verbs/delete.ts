import { remove } from "../../container/delete.ts";
import type { Verb } from "../context.ts";

export const verb: Verb = ({ options, positionals, flags }) => {
  const id = positionals[0]!;
  remove(options, id, flags["force"] === true);
  return 0;
};
