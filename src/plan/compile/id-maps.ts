/** The maps of a new user namespace (user_namespaces(7)). */
import type { IdMapping } from "../../config/types.ts";
import { RuntError } from "../../errors/index.ts";
import type { OpArgs } from "../ops.ts";
import type { Scope } from "./scope.ts";

/**
 * Who writes the maps. Without rights on the host a process may map its own id alone, and for the group's only after setgroups(2)
 * is denied for good; what /etc/subuid and /etc/subgid grant beyond that is the business of newuidmap(1) and newgidmap(1).
 * @throws RuntError "config-invalid" when such a program is needed and there is none
 */
export function idMaps({ config, host }: Scope): OpArgs<"idmap.write"> {
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

function triples(mappings: readonly IdMapping[]): number[] {
  return mappings.flatMap(({ containerId, hostId, size }) => [containerId, hostId, size]);
}
