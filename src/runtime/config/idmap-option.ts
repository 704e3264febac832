/** The value of crun's option `idmap=uids=FIRST-HOST-SIZE#...;gids=...` (crun(1), idmap mount options). */
import { RuntError } from "../errors/index.ts";
import type { IdMapping, IdMappings } from "./types.ts";

const RANGE = /^(@?)(\d{1,10})-(\d{1,10})-(\d{1,10})$/;
const IDS = 2 ** 32;

/**
 * FIRST is the id in the filesystem, HOST the one on the host; after an @ it is one of the container, which `container` maps.
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
