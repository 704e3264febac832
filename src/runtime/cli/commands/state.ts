import { describe } from "../../state/index.ts";
import type { Verb } from "../context.ts";
import { print } from "../output.ts";

export const verb: Verb = ({ options, positionals }) => {
  const id = positionals[0]!;
  print(JSON.stringify(describe(options.root, id), null, 2));
  return 0;
};
