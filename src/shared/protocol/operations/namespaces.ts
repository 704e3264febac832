/** Namespaces and what belongs to one. */
import type { OpDefinition } from "../fields.ts";

export const NAMESPACES = {
  "namespace.join": {
    id: 34,
    actors: ["intermediate"],
    doc: "Open a namespace file, verify its type and setns(2) into it. Outcome: joining the user namespace one is already in is skipped.",
    fields: { flag: "u32", path: "str" },
  },
  "namespace.unshare": {
    id: 35,
    actors: ["intermediate", "init"],
    doc: "unshare(2) with these CLONE_NEW* flags.",
    fields: { flags: "u32" },
  },
  "time.offsets": {
    id: 36,
    actors: ["intermediate"],
    doc: "Write /proc/self/timens_offsets after the unshare and before the clone.",
    fields: { monotonicSeconds: "i64", monotonicNanoseconds: "u32", boottimeSeconds: "i64", boottimeNanoseconds: "u32" },
  },
  "loopback.up": { id: 55, actors: ["init"], doc: "Set IFF_UP on lo of a new network namespace, if it is not set yet.", fields: {} },
  "hostname.set": { id: 56, actors: ["init"], doc: "sethostname(2).", fields: { name: "str" } },
  "domainname.set": { id: 57, actors: ["init"], doc: "setdomainname(2).", fields: { name: "str" } },
  "namespace.enter": {
    id: 105,
    actors: ["intermediate"],
    doc: "setns(2) into several namespaces of one process at once, by its pidfd; the start time (clock ticks) guards against a reused pid.",
    fields: { pid: "u32", startTime: "u64", flags: "u32" },
  },
  "netdevice.move": {
    id: 127,
    actors: ["runtime"],
    doc: "Move a network device of the runtime's network namespace to init's, give it this name there (a template with one %d is completed by the kernel), its permanent addresses of global scope as they are read now, and set it up. Outcome of a name that is taken there: an error, before the device is touched. namespace: path of a namespace that is joined, from which a later delete --force can bring the device back; empty for a new one.",
    fields: { device: "str", name: "str", namespace: "str" },
  },
} as const satisfies Record<string, OpDefinition>;

/** Maps of user and group ids. */
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
