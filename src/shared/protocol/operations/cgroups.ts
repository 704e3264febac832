/** Cgroups, by files or by systemd, and the groups of resctrl. */
import type { OpDefinition } from "../fields.ts";

export const CGROUPS = {
  "cgroup.create": {
    id: 3,
    actors: ["runtime"],
    doc: "Make one cgroup directory and every missing level above it; new levels above it are marked (extended attribute trusted.runt), the container's first directory with state root and id (trusted.runt.container), and in a v1 cpuset hierarchy new levels get their parent's cpus and mems.",
    fields: { path: "str" },
  },
  "cgroup.write": { id: 4, actors: ["runtime"], doc: "Write a value to a cgroup file.", fields: { path: "str", value: "str" } },
  "cgroup.devices": {
    id: 5,
    actors: ["runtime"],
    doc: "Attach the eBPF device program compiled from these rules (type:major:minor:access:allow|deny) to a v2 cgroup.",
    fields: { path: "str", rules: "strs" },
  },
  "cgroup.delegate": {
    id: 135,
    actors: ["runtime"],
    doc: "Give a v2 cgroup to a user of the host: the directory and the files named in /sys/kernel/cgroup/delegate (without that file: cgroup.procs, cgroup.subtree_control, cgroup.threads). Outcomes: a listed file that is absent is skipped; a caller without the right to gives a warning.",
    fields: { path: "str", uid: "u32" },
  },
  "cgroup.open": {
    id: 32,
    actors: ["intermediate", "init"],
    doc: "Open cgroup v1 `tasks` files (O_WRONLY) into consecutive slots; in a user namespace the intermediate does, for its credentials count (cgroup_procs_write_permission).",
    fields: { files: "strs", slot: "slot" },
  },
  "cgroup.openDirectory": {
    id: 33,
    actors: ["intermediate"],
    doc: "Open a cgroup v2 directory (O_PATH|O_DIRECTORY) for CLONE_INTO_CGROUP.",
    fields: { path: "str", slot: "slot" },
  },
  "cgroup.openTree": {
    id: 144,
    actors: ["init"],
    doc: "mount.open of a cgroup directory, as soon as the runtime has made this many of the container's cgroups. A word of the memory shared with it tells so, or the message `cgroup` does.",
    fields: { path: "str", slot: "slot", made: "u32" },
  },
  "cgroup.join": {
    id: 51,
    actors: ["intermediate", "init"],
    doc: "Write 0 to each opened tasks file (exec with an initial CPU affinity on v2: cgroup.procs) and close it.",
    fields: { slot: "slot", count: "u32" },
  },
  "resctrl.prepare": {
    id: 119,
    actors: ["runtime"],
    doc: "Have this group of the mounted resctrl (empty: the default group). Outcomes: an absent one is made with `create` (without it an error) and gets the schemata, one line a write; one that is there must have them already.",
    fields: { mount: "str", group: "str", create: "bool", schemata: "strs" },
  },
  "resctrl.join": {
    id: 120,
    actors: ["runtime"],
    doc: "Write the pid of init to the group's tasks file.",
    fields: { mount: "str", group: "str" },
  },
  "resctrl.monitor": {
    id: 121,
    actors: ["runtime"],
    doc: "Make this monitoring group; one that is there is an error.",
    fields: { mount: "str", group: "str" },
  },
  "systemd.startUnit": {
    id: 130,
    actors: ["runtime"],
    doc: "StartTransientUnit with these properties (NAME=VALUE, the value as GVariant text) and, if withInit, PIDs with the pid of init; wait for the job, at most 30 s. socket: of the manager itself if direct, else of a D-Bus bus. Outcome of UnitExists: ResetFailedUnit and one more try.",
    fields: { unit: "str", properties: "strs", withInit: "bool", socket: "str", direct: "bool" },
  },
  "cgroup.attach": {
    id: 131,
    actors: ["runtime"],
    doc: "Write init's pid to `tasks` or `cgroup.procs` files: the hierarchies that systemd has not moved it in.",
    fields: { files: "strs" },
  },
  "systemd.attach": {
    id: 132,
    actors: ["runtime"],
    doc: "exec by a user without the right to move processes: AttachProcessesToUnit with init's pid, into the cgroup at `path` below the unit's.",
    fields: { unit: "str", path: "str", socket: "str", direct: "bool" },
  },
} as const satisfies Record<string, OpDefinition>;
