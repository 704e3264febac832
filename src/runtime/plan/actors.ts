/** Which of the helper's two processes has to do something: the intermediate, with the host's view and rights, or init. */
import type { ContainerConfig, NamespaceConfig } from "../config/index.ts";
import { birthplace, type CompileInput, type Invocation } from "./input.ts";

/** What of a configuration the intermediate may have to do before the clone. */
export interface BeforeClone {
  readonly namespaces: readonly NamespaceConfig[];
  readonly hasNetDevices: boolean;
  readonly hasStartContainer: boolean;
  /** Mounts with mapped ids. */
  readonly hasIdMaps: boolean;
}

/** Whether something has to be done before the clone, with rights or in namespaces that init does not have. */
export function needsIntermediate(
  { consoleSocket, mode }: Pick<Invocation, "consoleSocket" | "mode">,
  { namespaces, hasNetDevices, hasStartContainer, hasIdMaps }: BeforeClone,
): boolean {
  if (consoleSocket !== undefined || hasNetDevices || hasIdMaps || (mode === "create" && hasStartContainer)) return true;
  let hasMount = false;
  for (const { type, path } of namespaces) {
    if (path !== undefined || type === "user" || type === "time") return true;
    hasMount ||= type === "mount";
  }
  return !hasMount;
}

/** Whether the intermediate does nothing of the configuration's but clone, so that it may have its plan before anything is made on the host. */
export function onlyClones({ config, host, invocation }: CompileInput): boolean {
  const { hooks, mounts, namespaces, netDevices } = config;
  if (host.rootless) return false;
  return !needsIntermediate(invocation, {
    namespaces,
    hasNetDevices: netDevices.length > 0,
    hasStartContainer: hooks.startContainer !== undefined,
    hasIdMaps: mounts.some((mount) => "idmap" in mount && mount.idmap !== undefined),
  });
}

/** v2: whether it waits for the cgroup that it clones init into. Otherwise that is there before the helper. */
export function awaitsCgroup(input: CompileInput): boolean {
  return birthplace(input.host.cgroup?.join) !== undefined && onlyClones(input);
}

/** Whether init can open files of the host itself: it has the host's rights and its view. */
export function opensHostFiles({ namespaces }: Pick<ContainerConfig, "namespaces">): boolean {
  for (const { type, path } of namespaces) if (type === "user" || (type === "mount" && path !== undefined)) return false;
  return true;
}
