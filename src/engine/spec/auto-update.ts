/** Which containers get a newer image when their tag leads to one (`runtctl autoupdate`). */
import type { ContainerSpec } from "./schema/container.ts";

/** The annotation of containers that are updated. Source: podman-auto-update(1). */
export const AUTO_UPDATE = "io.containers.autoupdate";

/**
 * none: the container is not updated. registry: to the image that the registry has for its tag. local: to the image that has its name in the store of this host.
 * unknown: why its policy cannot be followed.
 */
export type AutoUpdatePolicy = "none" | "registry" | "local" | { readonly unknown: string };

/** Source: podman-auto-update(1). */
export function updatePolicy({ annotations }: Pick<ContainerSpec, "annotations">): AutoUpdatePolicy {
  const policy = annotations[AUTO_UPDATE];
  if (policy === undefined || policy === "" || policy === "disabled") return "none";
  // "image" is an older word for it.
  if (policy === "registry" || policy === "image") return "registry";
  if (policy === "local") return "local";
  return { unknown: `${AUTO_UPDATE} is ${JSON.stringify(policy)}, and only registry, local and disabled are known` };
}
