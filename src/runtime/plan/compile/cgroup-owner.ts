import { MOUNT_ATTR } from "../../../shared/linux/index.ts";
import type { Scope } from "./scope.ts";

const PLACE = "/sys/fs/cgroup";

/**
 * The user of the host who owns the container's cgroup (config-linux, cgroup ownership): on v2, with a new cgroup namespace and
 * a writable cgroup mount at its usual place, the user of the process. undefined: it stays the caller's, as it does for a user that
 * no mapping of this configuration tells (a user namespace joined by path).
 */
export function cgroupOwner({ config, host, isNew, inUserNamespace }: Scope): number | undefined {
  if (host.cgroupVersion !== 2 || !isNew("cgroup")) return undefined;
  const mount = config.mounts.find(({ target }) => target === PLACE);
  if (mount?.kind !== "cgroup" || (mount.attrSet & MOUNT_ATTR.RDONLY) !== 0n) return undefined;
  const uid = config.process?.uid ?? 0;
  const owner = inUserNamespace ? mapped(config.uidMappings, uid) : uid;
  return owner === (host.caller?.uid ?? 0) ? undefined : owner;
}

function mapped(mappings: Scope["config"]["uidMappings"], uid: number): number | undefined {
  const mapping = mappings.find(({ containerId, size }) => uid >= containerId && uid < containerId + size);
  return mapping && mapping.hostId + uid - mapping.containerId;
}
