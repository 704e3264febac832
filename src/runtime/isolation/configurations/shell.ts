/** A shell of the guest as a container there: with all rights of its root, and with the processes, the devices and the network that the guest has. Pure. */
import { CAPABILITIES } from "../../../shared/linux/index.ts";
import { printJson } from "../../spec/index.ts";
import { guestCgroup, guestProcess, SHARED, SHELL } from "../places.ts";
import { sharedOf } from "./guest.ts";

export interface ShellOptions {
  /** That of the container in the guest. */
  readonly id: string;
  /** Words behind the name of the shell. */
  readonly args: readonly string[];
  readonly terminal: boolean;
  /** TERM of the caller. */
  readonly term?: string | undefined;
}

/** Text of its config.json. */
export function shellConfig({ id, args, terminal, term }: ShellOptions): string {
  const shared = sharedOf(id);
  const bound = (path: string) => ({ destination: path, type: "bind", source: path, options: ["rbind"] });
  return printJson({
    ociVersion: "1.2.0",
    root: { path: `${shared}/${SHARED.root}`, readonly: true },
    process: {
      terminal,
      user: { uid: 0, gid: 0 },
      args: [SHELL, ...args],
      env: ["PATH=/bin", "HOME=/", "PS1=guest# ", ...(term === undefined ? [] : [`TERM=${term}`])],
      cwd: "/",
      capabilities: { bounding: CAPABILITIES, effective: CAPABILITIES, permitted: CAPABILITIES },
    },
    mounts: [
      { destination: "/proc", type: "proc", source: "proc" },
      ...["/sys", "/dev"].map(bound),
      { destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["mode=1777", "size=1m"] },
      { destination: SHELL, type: "bind", source: `${shared}/${SHARED.volume}0`, options: ["bind"] },
    ],
    linux: {
      cgroupsPath: guestCgroup(id),
      resources: { devices: [{ allow: true, access: "rwm" }] },
      // The interfaces of a machine are in the network namespace of its first container.
      namespaces: [{ type: "mount" }, { type: "network", path: `${guestProcess()}/ns/net` }],
    },
  });
}
