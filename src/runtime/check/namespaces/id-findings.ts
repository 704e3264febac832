/** Findings about id mappings. */
import { type Entries, entry } from "../catalogue/entry.ts";

const MAP = [{ containerID: 0, hostID: 100000, size: 65536 }];
const USER = { "/linux/namespaces/-": { type: "user" }, "/linux/uidMappings": MAP, "/linux/gidMappings": MAP };
const maps = "config-linux.md#user-namespace-mappings";

export const IDS: Entries = {
  "mappings-without-namespace": entry(
    "error",
    "Id mappings without a user namespace",
    maps,
    "There is nothing to map.",
    "add a user namespace",
    {
      broken: { "/linux/uidMappings": MAP },
      fixed: USER,
    },
  ),
  "mappings-missing": entry(
    "error",
    "A new user namespace without mappings",
    maps,
    "Without mappings, no user and no group exists in it.",
    "add uidMappings and gidMappings",
    {
      broken: { ...USER, "/linux/gidMappings": null },
      fixed: USER,
      at: "/linux/gidMappings",
    },
  ),
  "mappings-ignored": entry("warning", "Mappings for a user namespace that is joined", maps, "It has its own.", "leave them out", {
    broken: { "/linux/namespaces/-": { type: "user", path: "/run/userns" }, "/linux/uidMappings": MAP },
    fixed: { "/linux/namespaces/-": { type: "user", path: "/run/userns" } },
    at: "/linux/uidMappings",
    files: { "/run/userns": { kind: "namespace", text: "user" } },
  }),
  "mappings-root": entry("error", "Id 0 of the container is not mapped", maps, "The container is set up as its root user.", "map id 0", {
    broken: { ...USER, "/linux/gidMappings": [{ containerID: 1, hostID: 100000, size: 65535 }], "/process/user/gid": 1 },
    fixed: USER,
    at: "/linux/gidMappings",
  }),
  "mappings-many": entry("error", "Too many mappings", "user_namespaces(7)", "The kernel accepts 340 lines.", "join ranges", {
    broken: {
      ...USER,
      "/linux/uidMappings": Array.from({ length: 341 }, (_, id) => ({ containerID: id, hostID: 100000 + 2 * id, size: 1 })),
    },
    fixed: USER,
    at: "/linux/uidMappings",
  }),
  "mapping-empty": entry("error", "A mapping without ids", maps, "The kernel refuses it.", "leave it out", {
    broken: { ...USER, "/linux/uidMappings/-": { containerID: 70000, hostID: 300000, size: 0 } },
    fixed: USER,
    at: "/linux/uidMappings/1/size",
  }),
  "mapping-range": entry("error", "A mapping above the highest id", maps, "Ids have 32 bits.", "shorten it", {
    broken: { ...USER, "/linux/uidMappings/-": { containerID: 70000, hostID: 4294967295, size: 2 } },
    fixed: USER,
    at: "/linux/uidMappings/1",
  }),
  "mapping-overlap": entry("error", "Two mappings of one id", maps, "The kernel refuses them.", "separate the ranges", {
    broken: { ...USER, "/linux/uidMappings/-": { containerID: 100, hostID: 300000, size: 1 } },
    fixed: USER,
    at: "/linux/uidMappings/1",
  }),
  "mappings-helper": entry(
    "error",
    "Mappings that need newuidmap or newgidmap, which is missing",
    "newuidmap(1)",
    "Without rights on the host, a caller may map only its own id.",
    "install the package uidmap",
    {
      broken: { "/linux/gidMappings": MAP },
      at: "/linux/gidMappings",
      rootless: true,
      facts: { caller: { uid: 1000, gid: 1000 } },
      fixed: { "/linux/gidMappings": [{ containerID: 0, hostID: 1000, size: 1 }] },
    },
  ),
  "mappings-not-granted": entry(
    "error",
    "Ids that the caller was not given",
    "subuid(5)",
    "newuidmap(1) and newgidmap(1) map only the ids that /etc/subuid and /etc/subgid grant, and the caller's own id.",
    "use granted ids, or grant more (usermod --add-subuids)",
    {
      broken: { "/linux/uidMappings": MAP },
      fixed: { "/linux/uidMappings": [{ containerID: 0, hostID: 200000, size: 65536 }] },
      at: "/linux/uidMappings/0",
      rootless: true,
      facts: { caller: { uid: 1000, gid: 1000, newuidmap: "/usr/bin/newuidmap", newgidmap: "/usr/bin/newgidmap" } },
    },
  ),
  "user-not-mapped": entry(
    "error",
    "An id of the process that is not mapped",
    maps,
    "It does not exist in the container's user namespace.",
    "map it, or use another one",
    {
      broken: { ...USER, "/process/user/uid": 70000 },
      fixed: { ...USER, "/process/user/uid": 1000 },
      at: "/process/user/uid",
    },
  ),
  "rootless-user-namespace": entry(
    "error",
    "No user namespace, and no rights on the host",
    "user_namespaces(7)",
    "Only a user namespace gives the rights to make the other parts.",
    "runt spec --rootless writes such a configuration",
    {
      broken: { "/linux/namespaces/6": null, "/linux/uidMappings": null, "/linux/gidMappings": null },
      at: "/linux/namespaces",
      rootless: true,
    },
  ),
};
