/** Flags of everything that starts from a bundle. */
import { type FlagDefinition, flag } from "./definition.ts";

export const BUNDLE = flag("bundle", "string", "bundle directory (default: the current directory)", { short: "b", value: "DIR" });
export const CREATE_FLAGS: readonly FlagDefinition[] = [
  BUNDLE,
  flag("console-socket", "string", "unix socket that receives the terminal's master side", { value: "SOCKET" }),
  flag("pid-file", "string", "write the pid of the container's process to this file", { value: "FILE" }),
  flag("no-pivot", "boolean", "move the root file system instead of pivot_root (for a ramdisk root)"),
  flag("no-new-keyring", "boolean", "keep the caller's session keyring"),
  flag("preserve-fds", "number", "hand this many descriptors above stdio to the container", { value: "N" }),
  flag("cgroup-parent", "string", "put the container's cgroup below this one: an absolute path, or with systemd a slice", {
    value: "PARENT",
  }),
  flag("dry-run", "boolean", "print the plan and change nothing"),
];
