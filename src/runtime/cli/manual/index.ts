/**
 * What help and man pages say of a verb beyond the table. Parsing needs nothing of it.
 */
import type { VerbName } from "../table/index.ts";
import { CONTROL_MANUAL } from "./control.ts";
import { CRIU_MANUAL } from "./criu.ts";
import type { VerbManual } from "./definition.ts";
import { DRY_RUN_MANUAL } from "./dry-run.ts";
import { LOOK_MANUAL } from "./look.ts";
import { START_MANUAL } from "./start.ts";

export type { VerbManual } from "./definition.ts";

/** A verb of the table that has no entry here does not compile. */
export const MANUAL: Readonly<Record<VerbName, VerbManual>> = {
  ...START_MANUAL,
  ...LOOK_MANUAL,
  ...CONTROL_MANUAL,
  ...CRIU_MANUAL,
  ...DRY_RUN_MANUAL,
};

/** Headings under which the help of a verb with many flags lists them, in this order; flags that stand nowhere come first. */
export const FLAG_GROUPS: readonly (readonly [title: string, flags: readonly string[]])[] = [
  ["Process", ["cwd", "env", "user", "additional-gids", "process", "no-new-privs", "cap", "apparmor", "process-label"]],
  [
    "Streams and descriptors",
    ["tty", "console-socket", "console-size", "resize-fifo", "pid-file", "pidfd-socket", "preserve-fds", "no-subreaper"],
  ],
  ["Output", ["output-log", "output-log-size", "output-log-files"]],
  ["Root file system and keyring", ["no-pivot", "no-new-keyring"]],
  ["Cgroup", ["cgroup", "cgroup-parent", "ignore-paused", "manage-cgroups-mode"]],
  [
    "CPU",
    ["cpu-period", "cpu-quota", "cpu-burst", "cpu-share", "cpu-rt-period", "cpu-rt-runtime", "cpu-idle", "cpuset-cpus", "cpuset-mems"],
  ],
  ["Memory", ["memory", "memory-reservation", "memory-swap"]],
  ["Processes, I/O, cache", ["pids-limit", "blkio-weight", "l3-cache-schema", "mem-bw-schema"]],
  ["Images of checkpoints", ["image-path", "work-path", "parent-path", "pre-dump", "auto-dedup", "lazy-pages", "page-server", "status-fd"]],
  [
    "What may be checkpointed",
    ["tcp-established", "tcp-close", "tcp-skip-in-flight", "link-remap", "ext-unix-sk", "shell-job", "file-locks", "empty-ns"],
  ],
  ["Labels", ["lsm-profile", "lsm-mount-context"]],
];
