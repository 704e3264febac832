/** Which containers get a newer image when their tag leads to one (`runtctl autoupdate`). */
import type { ContainerSpec } from "./schema/container.ts";

/** The annotation of containers that are updated. Source: podman-auto-update(1). */
export const AUTO_UPDATE = "io.containers.autoupdate";

/** Whether the container is updated. A text: why its policy cannot be followed. */
export function updatePolicy({ annotations }: Pick<ContainerSpec, "annotations">): boolean | string {
  const policy = annotations[AUTO_UPDATE];
  if (policy === undefined || policy === "" || policy === "disabled") return false;
  // "image" is an older word for it. Source: podman-auto-update(1).
  if (policy === "registry" || policy === "image") return true;
  return `${AUTO_UPDATE} is ${JSON.stringify(policy)}, and only registry and disabled are known`;
}
