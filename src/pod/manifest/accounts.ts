/** Service accounts. A pod may name one of its file, although no pod has the token or the rights of an account here. */

import { LEFT_OUT } from "../schema/field.ts";
import { CLUSTER_FIELDS } from "../schema/pod.ts";
import type { Translation } from "./translation.ts";

/** The account that each namespace of Kubernetes has. */
export const DEFAULT_ACCOUNT = "default";

export const NO_TOKEN = "has no effect: there is no account whose token could be mounted";

/** The name of the account of the pod. `serviceAccount` is the old name of the field. */
export function accountOf({ spec }: Translation["pod"]): string {
  return spec.serviceAccountName || spec.serviceAccount || DEFAULT_ACCOUNT;
}

/** A file without the account is refused, because a cluster that lacks it makes no pod. Source: Kubernetes, admission plugin ServiceAccount. */
export function checkAccount(at: Translation): void {
  const { spec } = at.pod;
  for (const field of ["serviceAccountName", "serviceAccount"] as const) {
    const name = spec[field];
    if (!name || name === DEFAULT_ACCOUNT) continue;
    if (at.objects.hasAccount(at.namespace, name)) {
      // The second field only repeats the first one.
      if (field === "serviceAccountName" || spec.serviceAccountName !== name)
        at.warn("has no effect: a pod has no token and no rights of an account here", ["spec", field]);
      continue;
    }
    const missing = `the file has no ServiceAccount ${name} in namespace ${at.namespace}`;
    at.refuse(`${missing}, and ${CLUSTER_FIELDS[field]}; ${LEFT_OUT}`, ["spec", field], "unknown-reference");
  }
  if (spec.automountServiceAccountToken === true) at.warn(NO_TOKEN, ["spec", "automountServiceAccountToken"]);
}
