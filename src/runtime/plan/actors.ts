/** Which of the helper's two processes has to do something: the intermediate, with the host's view and rights, or init. */
import type { ContainerConfig, NamespaceConfig } from "../config/index.ts";
import type { Invocation } from "./input.ts";

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

/** Whether init can open files of the host itself: it has the host's rights and its view. */
export function opensHostFiles({ namespaces }: Pick<ContainerConfig, "namespaces">): boolean {
  for (const { type, path } of namespaces) if (type === "user" || (type === "mount" && path !== undefined)) return false;
  return true;
}
