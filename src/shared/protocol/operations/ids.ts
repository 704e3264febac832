/** Maps of user and group ids. */
import type { OpDefinition } from "../fields.ts";

export const IDS = {
  "idmap.write": {
    id: 7,
    actors: ["runtime"],
    doc: "Write setgroups, gid_map and uid_map of init; triples are container id, host id, size. With gidProgram or uidProgram that setuid program (newgidmap(1), newuidmap(1)) writes the map, and setgroups is its business.",
    fields: { uidMap: "u32s", gidMap: "u32s", setgroups: "bool", uidProgram: "str", gidProgram: "str" },
  },
  "idmap.open": {
    id: 122,
    actors: ["intermediate"],
    doc: "Open a user namespace that has these maps into a slot, for mount.idmap; triples are id in the filesystem, host id, size. The process it is made with is gone when the operation ends.",
    fields: { uidMap: "u32s", gidMap: "u32s", slot: "slot" },
  },
  "idmap.verify": {
    id: 128,
    actors: ["runtime"],
    doc: "Compare the maps of the user namespace that init has joined with these triples, in any order; a difference is an error.",
    fields: { uidMap: "u32s", gidMap: "u32s" },
  },
} as const satisfies Record<string, OpDefinition>;
