import type { Spec } from "../spec/index.ts";
import type { ProcessConfig } from "./types.ts";
import type { Warn } from "./warnings.ts";

/** crun's, which `podman run --group-add keep-groups` sets: groups of a caller that may not name them, for files that only they may read. */
export const KEEP_GROUPS = "run.oci.keep_original_groups";

/** As with crun every value but "0" keeps them. */
export function keptGroups({ annotations, process }: Spec, warn: Warn): Pick<ProcessConfig, "keepGroups"> {
  const value = annotations?.[KEEP_GROUPS];
  if (value === undefined || value === "0") return {};
  if (process?.user?.additionalGids?.length) {
    const pointer = "/process/user/additionalGids";
    warn("groups-kept", pointer, `process.user.additionalGids has no effect with the annotation ${KEEP_GROUPS}`);
  }
  return { keepGroups: true };
}
