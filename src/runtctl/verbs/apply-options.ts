/** How a file is to be applied: of the verbs that do it, and that say what would be done. */
import type { Command } from "commander";

export interface ApplyOptions {
  readonly prune?: true;
  readonly rerun?: true;
}

export function addApplyOptions(command: Command): void {
  command
    .option("--prune", "remove tasks of the group that are not in the file")
    .option("--rerun", "run one-shots again that have succeeded");
}

/** As the interface takes them. */
export function applyOptionsOf({ prune, rerun }: ApplyOptions): { readonly prune: boolean; readonly rerun: boolean } {
  return { prune: prune === true, rerun: rerun === true };
}
