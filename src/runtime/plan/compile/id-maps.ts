/** The maps of a user namespace (user_namespaces(7)). */

import type { OpArgs } from "../../../shared/protocol/index.ts";
import type { ContainerConfig, IdMapping } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import type { Scope } from "./scope.ts";

/**
 * Which program writes the maps. Without rights on the host a process may map its own id alone, and for the group's only after setgroups(2)
 * is denied for good; what /etc/subuid and /etc/subgid grant beyond that is the business of newuidmap(1) and newgidmap(1).
 * @throws RuntError "config-invalid" when such a program is needed and there is none
 */
function idMaps({ config, host }: Scope): OpArgs<"idmap.write"> {
  const { caller } = host;
  const uidProgram = caller === undefined ? "" : programFor("uid", config.uidMappings, caller.uid, caller.newuidmap);
  const gidProgram = caller === undefined ? "" : programFor("gid", config.gidMappings, caller.gid, caller.newgidmap);
  const setgroups = !host.rootless || gidProgram !== "";
  return { uidMap: triples(config.uidMappings), gidMap: triples(config.gidMappings), setgroups, uidProgram, gidProgram };
}

/** Without rights, groups can be set only where newgidmap(1) has left setgroups(2) allowed. */
export function maySetGroups(scope: Scope): boolean {
  if (!scope.host.rootless || !scope.inUserNamespace) return true;
  return scope.host.setgroups ?? (scope.isNew("user") && idMaps(scope).setgroups);
}

/** "" when the caller may write the map itself. */
function programFor(kind: "uid" | "gid", mappings: readonly IdMapping[], own: number, program: string | undefined): string {
  const [only] = mappings;
  if (mappings.length === 1 && only?.hostId === own && only.size === 1) return "";
  if (program !== undefined) return program;
  throw new RuntError(
    "config-invalid",
    `linux.${kind}Mappings: more than the caller's own id needs new${kind}map, which is not installed`,
    {
      pointer: `/linux/${kind}Mappings`,
      hint: "install the package uidmap",
    },
  );
}

/** A new user namespace gets its maps; one that is joined has them, and must have those that the configuration names too. */
export function addIdMaps(scope: Scope): void {
  const { builder, config } = scope;
  if (scope.isNew("user")) builder.add("runtime", "namespaces", "idmap.write", idMaps(scope), "/linux/uidMappings");
  else if (scope.inUserNamespace && !isPlaceholder(config)) {
    const [uidMap, gidMap] = [triples(config.uidMappings), triples(config.gidMappings)];
    builder.add("runtime", "namespaces", "idmap.verify", { uidMap, gidMap }, "/linux/uidMappings");
  }
}

/** Podman names no maps for a joined namespace or, because old versions of runc asked for some, 0 to 0 alone. */
function isPlaceholder({ uidMappings, gidMappings }: ContainerConfig): boolean {
  return [uidMappings, gidMappings].every((mappings) => mappings.length === 0 || triples(mappings).join(" ") === "0 0 1");
}

/** Whether the configuration tells which ids of the host the container's are. */
export function hasIdMaps({ config, inUserNamespace }: Scope): boolean {
  return inUserNamespace && config.uidMappings.length > 0 && config.gidMappings.length > 0 && !isPlaceholder(config);
}

/** The id on the host of an id of the container's user namespace. */
export function hostId(mappings: readonly IdMapping[], id: number, pointer: string): number {
  const entry = mappings.find(({ containerId, size }) => id >= containerId && id < containerId + size);
  if (entry === undefined) throw new RuntError("config-invalid", `id ${id} is not mapped in the container`, { pointer });
  return id - entry.containerId + entry.hostId;
}

/** As idmap.write and idmap.open have them. */
export function triples(mappings: readonly IdMapping[]): number[] {
  return mappings.flatMap(({ containerId, hostId, size }) => [containerId, hostId, size]);
}
