import { RuntError } from "../../errors/index.ts";
import { completionScript } from "../completion/index.ts";
import type { Verb } from "../context.ts";
import { print } from "../output.ts";

export const verb: Verb = ({ positionals }) => {
  const shell = positionals[0]!;
  const script = completionScript(shell);
  if (script === undefined) throw new RuntError("usage", `no completion for ${JSON.stringify(shell)}: use bash, zsh or fish`);
  print(script);
  return 0;
};
