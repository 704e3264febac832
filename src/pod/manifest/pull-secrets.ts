/** Credentials with which the images of a pod are pulled: those of the host, by the names in imagePullSecrets. */
import { dnsLabel } from "../schema/field.ts";
import type { Translation } from "./translation.ts";

/** Index in imagePullSecrets of the first name of which the host has credentials; -1: it has none. */
function usedOf({ pod, host: { credentials } }: Translation): number {
  // Without a daemon the names are not known, but credentials of a host never have dots in theirs.
  return pod.spec.imagePullSecrets.findIndex(({ name }) => credentials?.includes(name) ?? dnsLabel.safeParse(name).success);
}

/** undefined: the default credentials of the host, if it has any. */
export function credentialsOf(at: Translation): string | undefined {
  return at.pod.spec.imagePullSecrets[usedOf(at)]?.name;
}

/** A kubelet, too, goes on without a Secret that does not exist. Source: kubelet, getPullSecretsForPod. */
export function checkPullSecrets(at: Translation): void {
  const used = usedOf(at);
  for (const [index, { name }] of at.pod.spec.imagePullSecrets.entries()) {
    const isOfFile = at.objects.get("Secret", at.namespace, name) !== undefined;
    const path = ["spec", "imagePullSecrets", index];
    if (index !== used) {
      const taken = used === -1 ? "the default credentials of the host, if it has any" : `the credentials ${credentialsOf(at)} of the host`;
      const remedy = dnsLabel.safeParse(name).success ? `; runtd --credentials ${name}=file:FILE gives it a set of this name` : "";
      at.warn(`${isOfFile ? "the Secret is not used" : "has no effect"}: images are pulled with ${taken}${remedy}`, path);
    } else if (isOfFile) at.warn("the Secret is not used: images are pulled with the credentials of the host that have this name", path);
  }
}
