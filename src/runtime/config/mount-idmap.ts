/** Which ids a mount shows: its own mappings, those of its option idmap, or those of the container's user namespace. */
import { RuntError } from "../errors/index.ts";
import type { SpecMount } from "../spec/index.ts";
import { deriveIdMappings } from "./namespaces.ts";
import type { IdMapping, IdMappings, MountIdMap, NamespaceConfig } from "./types.ts";
import type { Warn } from "./warnings.ts";

/** The option as it stands in the list. */
export interface IdMapRequest {
  /** JSON pointer of the option. */
  readonly at: string;
  readonly recursive: boolean;
  /** What follows the "="; "" when there is none. */
  readonly value: string;
}

/** The user namespace of the container and its mappings. */
export interface ContainerIds extends IdMappings {
  readonly userNamespace: NamespaceConfig | undefined;
}

/**
 * undefined: ids are shown as they are.
 * @throws RuntError "config-invalid" when mappings are asked for and there are none
 */
export function deriveMountIdMap(
  mount: SpecMount,
  request: IdMapRequest | undefined,
  container: ContainerIds,
  from: string,
  warn: Warn,
): MountIdMap | undefined {
  const uids = mount.uidMappings ?? [];
  const gids = mount.gidMappings ?? [];
  const recursive = request?.recursive === true;
  if (uids.length > 0 && gids.length > 0) {
    if (request === undefined) {
      const message = `mount of "${mount.destination}": has id mappings without the option idmap or ridmap, and is mapped as by idmap`;
      warn("mount-idmap-implied", from, message);
    } else if (request.value !== "") {
      warn("mount-idmap-value-ignored", request.at, `mount of "${mount.destination}": uidMappings and gidMappings win over the option's`);
    }
    return { recursive, source: { uidMappings: deriveIdMappings(uids), gidMappings: deriveIdMappings(gids) } };
  }
  if (request === undefined) return undefined;
  const { userNamespace, uidMappings, gidMappings } = container;
  const isNew = userNamespace !== undefined && userNamespace.path === undefined;
  const mappings = isNew ? { uidMappings, gidMappings } : undefined;
  if (request.value !== "") return { recursive, source: parseIdMapOption(request.value, mappings, request.at) };
  if (mappings !== undefined) return { recursive, source: mappings };
  if (userNamespace?.path !== undefined) return { recursive, source: { path: userNamespace.path } };
  throw new RuntError("config-invalid", `mount of "${mount.destination}": id-mapped mounts must have both uid and gid mappings specified`, {
    pointer: request.at,
    finding: "mount-idmap",
    hint: "give the mount uidMappings and gidMappings, or the container a user namespace",
  });
}

const RANGE = /^(@?)(\d{1,10})-(\d{1,10})-(\d{1,10})$/;
const IDS = 2 ** 32;

/**
 * The value of crun's option `idmap=uids=FIRST-HOST-SIZE#...;gids=...` (crun(1), idmap mount options).
 * FIRST is the id in the filesystem, HOST the one on the host; after an @ it is one of the container,
 * which `container` maps.
 * @throws RuntError "config-invalid"
 */
export function parseIdMapOption(value: string, container: IdMappings | undefined, pointer: string): IdMappings {
  const invalid = (why: string) =>
    new RuntError("config-invalid", `mount option "idmap=${value}": ${why}`, { pointer, finding: "mount-idmap" });
  const ranges = (text: string, own: readonly IdMapping[] | undefined): readonly IdMapping[] =>
    text.split("#").map((range) => {
      const [, relative, ...numbers] = RANGE.exec(range) ?? [];
      const [containerId = 0, hostId = 0, size = 0] = numbers.map(Number);
      if (size === 0 || containerId + size > IDS || hostId + size > IDS) throw invalid(`"${range}" is not a range FIRST-HOST-SIZE of ids`);
      if (relative === "") return { containerId, hostId, size };
      if (own === undefined) throw invalid(`"${range}" is relative to a new user namespace, and there is none`);
      const outer = own.find((entry) => hostId >= entry.containerId && hostId + size <= entry.containerId + entry.size);
      if (outer === undefined) throw invalid(`"${range}" is not within one range of the container's mappings`);
      return { containerId, hostId: hostId - outer.containerId + outer.hostId, size };
    });
  let uidMappings: readonly IdMapping[] | undefined;
  let gidMappings: readonly IdMapping[] | undefined;
  for (const part of value.split(";")) {
    if (part.startsWith("uids=")) uidMappings = ranges(part.slice(5), container?.uidMappings);
    else if (part.startsWith("gids=")) gidMappings = ranges(part.slice(5), container?.gidMappings);
    else throw invalid(`"${part}" is neither uids=... nor gids=...`);
  }
  if (uidMappings === undefined || gidMappings === undefined) throw invalid("needs both uids and gids");
  return { uidMappings, gidMappings };
}
