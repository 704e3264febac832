/** Completion scripts of the shells, generated from the command table. */
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { type CommandModel, commandModel } from "./model.ts";
import { zshScript } from "./zsh.ts";

const SCRIPTS: Readonly<Record<string, (model: CommandModel) => string>> = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** The script for this shell; undefined when there is none. */
export function completionScript(shell: string): string | undefined {
  return SCRIPTS[shell]?.(commandModel());
}
