/** Findings about memory policy, personality and intelRdt. */
import { type Entries, entry } from "../catalogue/entry.ts";

const POLICY = "/linux/memoryPolicy";
const RDT = "/linux/intelRdt";
const RESCTRL = { resctrl: { mount: "/sys/fs/resctrl", groups: ["gold"] } };

export const POLICIES: Entries = {
  "memory-policy-mode": entry(
    "error",
    "A missing or unknown memory policy",
    "config-linux.md#memory-policy",
    "set_mempolicy(2) has seven modes.",
    "name a mode",
    {
      broken: { [POLICY]: { mode: "MPOL_BINDS", nodes: "0" } },
      fixed: { [POLICY]: { mode: "MPOL_BIND", nodes: "0" } },
      at: `${POLICY}/mode`,
    },
  ),
  "memory-policy-nodes": entry(
    "error",
    "Nodes that a memory policy refuses, or missing nodes that it needs",
    "config-linux.md#memory-policy",
    "MPOL_DEFAULT and MPOL_LOCAL have no nodes, and the others need some.",
    "add or remove nodes",
    {
      broken: { [POLICY]: { mode: "MPOL_BIND" } },
      fixed: { [POLICY]: { mode: "MPOL_BIND", nodes: "0" } },
      at: `${POLICY}/nodes`,
    },
  ),
  "memory-policy-flag": entry(
    "error",
    "A flag that the memory policy does not allow",
    "config-linux.md#memory-policy",
    "set_mempolicy(2) refuses it.",
    "correct or remove it",
    {
      broken: { [POLICY]: { mode: "MPOL_BIND", nodes: "0", flags: ["MPOL_F_STATIC"] } },
      fixed: { [POLICY]: { mode: "MPOL_BIND", nodes: "0", flags: ["MPOL_F_STATIC_NODES"] } },
      at: `${POLICY}/flags/0`,
    },
  ),
  "personality-domain": entry(
    "error",
    "A missing or unknown personality",
    "config-linux.md#personality",
    "It is LINUX or LINUX32.",
    "use one of the two",
    {
      broken: { "/linux/personality": { domain: "LINUX64" } },
      fixed: { "/linux/personality": { domain: "LINUX" } },
      at: "/linux/personality/domain",
    },
  ),
  "personality-flag": entry("error", "A personality flag", "config-linux.md#personality", "No flag is defined.", "leave it out", {
    broken: { "/linux/personality": { domain: "LINUX", flags: ["X"] } },
    at: "/linux/personality/flags/0",
  }),
  "intel-rdt-missing": entry(
    "error",
    "intelRdt without a resctrl filesystem",
    "config-linux.md#intelrdt",
    "Its groups are directories of that filesystem.",
    "mount it, with mount -t resctrl none /sys/fs/resctrl",
    {
      broken: { [RDT]: { closID: "gold" } },
    },
  ),
  "intel-rdt-group": entry(
    "error",
    "A closID that is not a valid group name",
    "config-linux.md#intelrdt",
    "It is the name of one directory.",
    "use a plain name, or / for the default group",
    {
      broken: { [RDT]: { closID: "a/b", schemata: ["L3:0=f"] } },
      fixed: { [RDT]: { closID: "a", schemata: ["L3:0=f"] } },
      at: `${RDT}/closID`,
      facts: RESCTRL,
    },
  ),
  "intel-rdt-group-missing": entry(
    "error",
    "A missing group of intelRdt",
    "config-linux.md#intelrdt",
    "Without a schema, runt makes no group.",
    "make the group first, or add schemata",
    {
      broken: { [RDT]: { closID: "silver" } },
      fixed: { [RDT]: { closID: "gold" } },
      at: `${RDT}/closID`,
      facts: RESCTRL,
    },
  ),
  "intel-rdt-line": entry(
    "error",
    "A schema of more than one line",
    "config-linux.md#intelrdt",
    "Each is one line of the file schemata.",
    "use one entry of schemata for each line",
    {
      broken: { [RDT]: { closID: "gold", schemata: ["L3:0=f\nMB:0=50"] } },
      fixed: { [RDT]: { closID: "gold", schemata: ["L3:0=f", "MB:0=50"] } },
      at: `${RDT}/schemata/0`,
      facts: RESCTRL,
    },
  ),
  "intel-rdt-bandwidth": entry(
    "error",
    "memBwSchema does not start with MB:",
    "config-linux.md#intelrdt",
    "It is the line of the memory bandwidth.",
    "begin it with MB:",
    {
      broken: { [RDT]: { closID: "gold", memBwSchema: "0=50" } },
      fixed: { [RDT]: { closID: "gold", memBwSchema: "MB:0=50" } },
      at: `${RDT}/memBwSchema`,
      facts: RESCTRL,
    },
  ),
  "intel-rdt-cache": entry(
    "warning",
    "l3CacheSchema does not start with L3:",
    "config-linux.md#intelrdt",
    "It is the line of the third-level cache.",
    "begin it with L3:",
    {
      broken: { [RDT]: { closID: "gold", l3CacheSchema: "0=f" } },
      fixed: { [RDT]: { closID: "gold", l3CacheSchema: "L3:0=f" } },
      at: `${RDT}/l3CacheSchema`,
      facts: RESCTRL,
    },
  ),
  "intel-rdt-ignored": entry(
    "warning",
    "enableCMT or enableMBM",
    "config-linux.md#intelrdt",
    "They were in the specification from 1.1.0 to 1.2.1, and no runtime implemented them.",
    "use enableMonitoring",
    {
      broken: { [RDT]: { closID: "gold", enableCMT: true } },
      fixed: { [RDT]: { closID: "gold", enableMonitoring: true } },
      at: `${RDT}/enableCMT`,
      facts: RESCTRL,
    },
  ),
};
