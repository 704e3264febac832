/** Options of the verbs that apply a file or show what applying it would do. */
import type { Command } from "commander";

export interface ApplyOptions {
  readonly prune?: true;
  readonly rerun?: true;
  readonly takeOver?: true;
  readonly ignoreClusterFields?: true;
}

export interface NetworkOption {
  readonly makeNetworks?: true;
}

export type ClusterOption = Pick<ApplyOptions, "ignoreClusterFields">;

export function addApplyOptions(command: Command): void {
  command
    .option("--prune", "remove tasks of the group that are not in the file")
    .option("--rerun", "run one-shots again even if they have succeeded")
    .option("--take-over", "also change what another project, or a file that is no project, has made; it belongs to this one from now on");
  command.option("--make-networks", "make external networks of a Compose file that no task uses yet");
  addClusterOption(command);
}

/** What has to be there, in the format of the API. */
export function networksOf({ makeNetworks }: NetworkOption, externals: readonly string[] = []): { readonly networks?: readonly string[] } {
  return makeNetworks || externals.length === 0 ? {} : { networks: externals };
}

export function addClusterOption(command: Command): void {
  command.option("--ignore-cluster-fields", "of Kubernetes documents: leave out what says something to a cluster only, and tell of each");
}

/** The options in the format of the API. */
export function applyOptionsOf({
  prune,
  rerun,
  takeOver,
  ignoreClusterFields,
}: ApplyOptions): Readonly<Record<keyof ApplyOptions, boolean>> {
  return {
    prune: prune === true,
    rerun: rerun === true,
    takeOver: takeOver === true,
    ignoreClusterFields: ignoreClusterFields === true,
  };
}
