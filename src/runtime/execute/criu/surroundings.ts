/** What a restore finds around the container: namespaces that it joins, and a root that is a mount point. */
import type { MountLine } from "../../../shared/linux/index.ts";
import type { ContainerConfig } from "../../config/index.ts";
import type { JoinedNamespace } from "../../criu/index.ts";
import * as host from "../../host/index.ts";
import { NETWORK, namespaceIdentity } from "./image.ts";
import { type CriuFlags, EXTERNAL_NAMESPACES, REJOINED_NAMESPACES } from "./options.ts";

interface Joined {
  readonly inherited: readonly { readonly key: string; readonly fd: number }[];
  readonly rejoined: readonly JoinedNamespace[];
}

export function joinedNamespaces({ namespaces }: ContainerConfig): Joined {
  const named = namespaces.flatMap(({ type, path }) => (path === undefined ? [] : [{ type, path }]));
  return {
    inherited: named.flatMap(({ type, path }) => {
      const key = EXTERNAL_NAMESPACES[type];
      return key === undefined ? [] : [{ key, fd: host.open(path, host.O.RDONLY) }];
    }),
    rejoined: named.filter(({ type }) => REJOINED_NAMESPACES.has(type)),
  };
}

/**
 * The dump has locked the network namespace, and the end of the restore unlocks it. criu locks an "empty" one itself before: twice locked, one
 * that was joined and is still the same would stay locked for ever.
 */
export function networkLockedBy({ imagePath }: CriuFlags, { namespaces }: ContainerConfig): { readonly emptyNamespaces?: number } {
  const path = namespaces.find(({ type }) => type === "network")?.path;
  const file = `${imagePath}/${NETWORK}`;
  if (path === undefined || !host.stat(file)) return {};
  return host.readFile(file) === namespaceIdentity(path) ? { emptyNamespaces: 0 } : {};
}

/**
 * criu wants the root to be a mount point. Where it is none, it becomes one in a mount namespace that ends with criu: a crash leaves nothing
 * on the host. Returns the way back.
 */
export function goWhereRootIsMounted(rootfs: string, table: readonly MountLine[]): () => void {
  let former = table.some(({ point }) => point === rootfs) ? undefined : host.enterOwnMounts(rootfs);
  return () => {
    if (former !== undefined) host.leaveOwnMounts(former);
    former = undefined;
  };
}
