/** Verbs that turn a container into files and back. */
import { BUNDLE } from "./create-flags.ts";
import { type FlagDefinition, flag, type VerbDefinition } from "./definition.ts";

const SHARED: readonly FlagDefinition[] = [
  flag("image-path", "string", "directory of the checkpoint's files (default: checkpoint)", { value: "DIR" }),
  flag("work-path", "string", "directory of criu's log and scratch files (default: that of the checkpoint)", { value: "DIR" }),
  flag("tcp-established", "boolean", "keep established TCP connections"),
  flag("tcp-close", "boolean", "close established TCP connections"),
  flag("ext-unix-sk", "boolean", "allow connected unix sockets whose other end is outside"),
  flag("shell-job", "boolean", "allow a container on the terminal of a shell"),
  flag("file-locks", "boolean", "keep file locks"),
  flag("link-remap", "boolean", "keep open files that were deleted, by a link to them"),
  flag("auto-dedup", "boolean", "free memory pages of an earlier checkpoint that are superseded"),
  flag("lazy-pages", "boolean", "transfer memory only when it is used (userfaultfd)"),
  flag("manage-cgroups-mode", "string", "how to handle the container's cgroups and their limits (default: soft)", {
    value: "soft|full|strict|ignore",
  }),
  flag("empty-ns", "string", "do not save this namespace; the network namespace is never saved", { value: "network", repeatable: true }),
];

export const CRIU_VERBS: readonly VerbDefinition[] = [
  {
    name: "checkpoint",
    summary: "write a container's processes to files, and end the container",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [
      ...SHARED,
      flag("leave-running", "boolean", "let the container go on"),
      flag("pre-dump", "boolean", "write only the memory, and let the container go on; a later checkpoint uses it"),
      flag("parent-path", "string", "an earlier --pre-dump, relative to --image-path", { value: "DIR" }),
      flag("tcp-skip-in-flight", "boolean", "skip TCP connections that are not established yet"),
      flag("page-server", "string", "send the memory to criu's page server there", { value: "ADDRESS:PORT" }),
      flag("status-fd", "number", "descriptor that gets one byte when --lazy-pages is ready", { value: "FD" }),
      flag("network-lock", "string", "how to block network packets during the checkpoint (default: criu's)", {
        value: "iptables|nftables|skip",
      }),
    ],
  },
  {
    name: "restore",
    summary: "make a container from the files of a checkpoint",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [
      BUNDLE,
      ...SHARED,
      flag("detach", "boolean", "do not wait for the container to end", { short: "d" }),
      flag("pid-file", "string", "write the pid of the container's process to this file", { value: "FILE" }),
      flag("console-socket", "string", "unix socket that receives the terminal's master side", { value: "SOCKET" }),
      flag("no-subreaper", "boolean", "do not adopt the container's orphans"),
      flag("no-pivot", "boolean", "has no effect: criu makes the root", { hidden: true }),
      flag("lsm-profile", "string", "security label of the processes", { value: "TYPE:NAME" }),
      flag("lsm-mount-context", "string", "SELinux context of the mounts", { value: "CONTEXT" }),
      flag("parent-path", "string", "has no effect: the checkpoint knows its parent", { hidden: true }),
    ],
  },
];
