/** Flags of everything that starts from a bundle. */
import { type FlagDefinition, flag } from "./definition.ts";

export const BUNDLE = flag("bundle", "string", "bundle directory (default: the current directory)", { short: "b", value: "DIR" });
const CONFIG_HELP = "read this file instead of the bundle's config.json; a relative path starts in the current directory";
export const CONFIG = flag("config", "string", CONFIG_HELP, { short: "f", value: "FILE" });
/** Where -f is the format. */
export const CONFIG_LONG = flag("config", "string", CONFIG_HELP, { value: "FILE" });
export const CREATE_FLAGS: readonly FlagDefinition[] = [
  BUNDLE,
  flag("console-socket", "string", "unix socket that receives the terminal's master side", { value: "SOCKET" }),
  flag("pid-file", "string", "write the pid of the container's process to this file", { value: "FILE" }),
  flag("pidfd-socket", "string", "unix socket that receives a pidfd of the container's process", { value: "SOCKET" }),
  flag("no-pivot", "boolean", "move the root file system instead of pivot_root (for a ramdisk root)"),
  flag("no-new-keyring", "boolean", "keep the caller's session keyring"),
  flag("preserve-fds", "number", "pass this many descriptors above stdio to the container, if they are open", { value: "N" }),
  flag("cgroup-parent", "string", "put the container's cgroup below this one: an absolute path, or with systemd a slice", {
    value: "PARENT",
  }),
  flag("expect-plan", "string", "fail unless the plan has this digest (sha256:...), or equals the plan in this file of plan -f json", {
    value: "DIGEST",
  }),
  flag("isolation", "string", "where the container runs (default: host)", { value: "host|vm" }),
  flag("dry-run", "boolean", "print the plan and change nothing"),
];
