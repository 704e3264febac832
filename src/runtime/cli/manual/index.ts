/**
 * What help and man pages say of a verb beyond the table. Parsing needs nothing of it.
 */
import type { VerbName } from "../table/index.ts";
import { CONTROL_MANUAL } from "./control.ts";
import { CRIU_MANUAL } from "./criu.ts";
import type { VerbManual } from "./definition.ts";
import { DRY_RUN_MANUAL } from "./dry-run.ts";
import { LOOK_MANUAL } from "./look.ts";
import { MACHINE_MANUAL } from "./machine.ts";
import { START_MANUAL } from "./start.ts";

export type { VerbManual } from "./definition.ts";

/** A verb of the table that has no entry here does not compile. */
export const MANUAL: Readonly<Record<VerbName, VerbManual>> = {
  ...START_MANUAL,
  ...LOOK_MANUAL,
  ...CONTROL_MANUAL,
  ...CRIU_MANUAL,
  ...DRY_RUN_MANUAL,
  ...MACHINE_MANUAL,
};

/** Headings under which the help of a verb with many flags lists them, in this order; flags that stand nowhere come first. */
export const FLAG_GROUPS: readonly (readonly [title: string, flags: readonly string[]])[] = [
  ["Process", ["cwd", "env", "user", "additional-gids", "process", "no-new-privs", "cap", "apparmor", "process-label"]],
  [
    "Streams and descriptors",
    ["tty", "console-socket", "console-size", "resize-fifo", "deadline-fifo", "pid-file", "pidfd-socket", "preserve-fds", "no-subreaper"],
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

/*
 * What the manual says of runt itself.
 */

export const DESCRIPTION = "Open Container Initiative runtime";

export const PROGRAM_DESCRIPTION: readonly string[] = [
  "runt is an OCI container runtime: it turns a bundle, a directory with a config.json and a root file system, into a running container. " +
    "Engines such as containerd, CRI-O, Podman and Docker call it. Its command line and its output are those of runc, so that one line of " +
    "configuration replaces runc by runt.",
  "It compiles the bundle into a plan, a finite list of operations, before it acts. runt plan prints that plan.",
  "Flags are written with one dash or two, with the value behind = or as the next word. Global flags stand before the command.",
  "An error is one line on the standard error stream. A command that succeeds prints only its result.",
];

export const PROGRAM_EXAMPLES: readonly string[] = ["runt spec", "runt plan -b /bundles/web", "runt run -b /bundles/hello hello"];

export const EXIT_STATUS: readonly (readonly [string, string])[] = [
  ["0", "success"],
  ["1", "failure; runt has removed everything that it had made"],
  ["3", "there is no such command"],
  ["status of the program", "run and exec in the foreground; 128 + the signal when one killed it"],
  ["255", "exec could not start the process"],
];

export const FILES: readonly (readonly [string, string])[] = [
  ["/run/runt", "states of the containers of root: ID/state.json, ID/exec.fifo"],
  ["$XDG_RUNTIME_DIR/runt", "the same for another user, or in a user namespace; /run/user/UID/runt if the variable is not set"],
  ["ROOT/@cache", "compiled seccomp filters; may be deleted at any time"],
  ["config.json", "configuration of a container, in the bundle; the OCI runtime specification describes it"],
];

export const ENVIRONMENT: readonly (readonly [string, string])[] = [
  ["XDG_RUNTIME_DIR", "directory with the state directory of a user and the socket of the user's systemd"],
  ["NO_COLOR", "not empty: no colours. runt also prints no colours if TERM is dumb, or if the output is not a terminal"],
  ["LISTEN_FDS", "number of descriptors above 2 that the container gets, with LISTEN_PID=1"],
  [
    "TRACEPARENT",
    "with --trace: the trace that this call belongs to (W3C Trace Context); runt writes it into the file, and ignores a bad value",
  ],
  ["PATH", "directories of the host's programs ps, newuidmap and newgidmap"],
];
