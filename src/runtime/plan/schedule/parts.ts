/** The parts of a plan, in their natural order: what the compile steps begin one after the other, and the schedule moves as a whole. */
export type Part =
  /** The runtime, on the host. */
  | "host"
  /** Hybrid hosts: the directory of v2 that init is cloned into. */
  | "birthplace"
  /** Making cgroups and limiting them. */
  | "cgroups"
  /** v1: what is written to device lists, as the last; v2: the device program. It holds for the program: init, which makes nodes, need not wait for it. */
  | "deviceRules"
  | "spawn"
  /** What of the host init needs beside its mounts: procfs, /dev/null. */
  | "hostFiles"
  | "fifo"
  /** What else the intermediate does, up to the clone, and what both sides do first after it. */
  | "clone"
  /** Where init is told that its cgroups are there, waits for that, opens the files to join by, and joins. */
  | "told"
  | "waits"
  | "tasks"
  | "joins"
  /** Namespaces, identity, the root, and the mounts in it. */
  | "inside"
  /** The first mount of cgroups, and the mounts behind it. */
  | "cgroupMounts"
  | "devices"
  /** Hooks and the pivot. */
  | "pivot"
  | "protectedPaths"
  /** The last of the root. */
  | "finish"
  | "process"
  | "boundingSet"
  | "user"
  | "ready"
  | "commit";
