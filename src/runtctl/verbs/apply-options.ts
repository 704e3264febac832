/** Options of the verbs that apply a file or show what applying it would do. */
import type { Command } from "commander";

export interface ApplyOptions {
  readonly prune?: true;
  readonly rerun?: true;
  readonly takeOver?: true;
}

export function addApplyOptions(command: Command): void {
  command
    .option("--prune", "remove tasks of the group that are not in the file")
    .option("--rerun", "run one-shots again even if they have succeeded")
    .option("--take-over", "also change what another project, or a file that is no project, has made; it belongs to this one from now on");
}

/** The options in the format of the API. */
export function applyOptionsOf({ prune, rerun, takeOver }: ApplyOptions): Readonly<Record<"prune" | "rerun" | "takeOver", boolean>> {
  return { prune: prune === true, rerun: rerun === true, takeOver: takeOver === true };
}
