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
    .option(
      "--take-over",
      "also change tasks that another project, or a file without a project, has made; from then on they belong to this project",
    );
  command.option("--make-networks", "make external networks of a Compose file that no task uses yet");
  addClusterOption(command);
}

/** Networks that must exist, in the format of the API. */
export function networksOf({ makeNetworks }: NetworkOption, externals: readonly string[] = []): { readonly networks?: readonly string[] } {
  return makeNetworks || externals.length === 0 ? {} : { networks: externals };
}

export function addClusterOption(command: Command): void {
  command.option(
    "--ignore-cluster-fields",
    "for Kubernetes documents: ignore fields that only a cluster can use, and print a warning for each",
  );
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
