/** linux.namespaces, id mappings and time offsets. */
import { RuntError } from "../errors/index.ts";
import { type Integer, NAMESPACE_TYPES, type SpecIdMapping, type SpecLinux, type SpecNamespace } from "../spec/index.ts";
import type { ContainerConfig, IdMapping, NamespaceConfig, NamespaceType } from "./types.ts";

/** In the order of the configuration; an empty path is an absent one. */
export function deriveNamespaces(namespaces: readonly SpecNamespace[]): readonly NamespaceConfig[] {
  return namespaces.map(({ type, path }, index) => {
    const from = `/linux/namespaces/${index}`;
    if (!(NAMESPACE_TYPES as readonly string[]).includes(type)) {
      throw new RuntError("config-invalid", `unknown namespace type "${type}"`, { pointer: `${from}/type` });
    }
    return path ? { from, type: type as NamespaceType, path } : { from, type: type as NamespaceType };
  });
}

export function deriveIdMappings(mappings: readonly SpecIdMapping[]): readonly IdMapping[] {
  return mappings.map(({ containerID, hostID, size }) => ({ containerId: containerID, hostId: hostID, size }));
}

/** undefined when no clock is given. */
export function deriveTimeOffsets(offsets: SpecLinux["timeOffsets"]): ContainerConfig["timeOffsets"] | undefined {
  if (!offsets || Object.keys(offsets).length === 0) return undefined;
  const clock = (offset: { secs?: Integer | null | undefined; nanosecs?: number | null | undefined } | undefined) => ({
    seconds: BigInt(offset?.secs ?? 0),
    nanoseconds: offset?.nanosecs ?? 0,
  });
  return { monotonic: clock(offsets["monotonic"]), boottime: clock(offsets["boottime"]) };
}
