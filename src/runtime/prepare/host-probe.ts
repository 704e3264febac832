/** The questions about the host that making a container asks. The host itself answers them (LIVE), or the record of another host (--host FILE). */
import { type CgroupHierarchies, readHierarchies } from "../cgroup/index.ts";
import { readSystemd, type SystemdFacts } from "../cgroup/systemd/index.ts";
import type { ContainerConfig } from "../config/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { refuseMissingDevices } from "../network/index.ts";
import { locateGroups, type ResctrlRef } from "../resctrl/index.ts";
import { defenceDisabled } from "../testing/index.ts";
import { apparmorEnabled, findIdProgram, selinuxEnabled } from "./lsm.ts";
import { refuseHostNamespaces } from "./own-namespaces.ts";

export interface IdPrograms {
  readonly newuidmap?: string;
  readonly newgidmap?: string;
}

/** Each answer is asked for only where a configuration needs it. */
export interface HostProbe {
  /** Effective ids of the process that makes the container. */
  caller(): { readonly uid: number; readonly gid: number };
  idPrograms(): IdPrograms;
  cgroups(): CgroupHierarchies;
  /** Whether the caller may make cgroups at the root of every hierarchy. */
  mayMakeCgroups(): boolean;
  /** @throws RuntError cgroup where there is none */
  systemd(rootless: boolean): SystemdFacts;
  apparmor(): boolean;
  selinux(): boolean;
  /** @throws RuntError resctrl */
  resctrl(id: string, closId: string | undefined, monitoring: boolean): ResctrlRef;
  /** What only shows where the container is to be made. @throws RuntError config-invalid */
  refuse(config: ContainerConfig): void;
}

export const LIVE: HostProbe = {
  caller: () => ({ uid: host.geteuid(), gid: host.getegid() }),
  idPrograms() {
    const [newuidmap, newgidmap] = [findIdProgram("newuidmap"), findIdProgram("newgidmap")];
    return { ...(newuidmap && { newuidmap }), ...(newgidmap && { newgidmap }) };
  },
  cgroups: readHierarchies,
  mayMakeCgroups: () => readHierarchies().hierarchies.every(({ mountpoint }) => host.access(mountpoint, host.ACCESS.WRITE)),
  systemd: (rootless) => readSystemd(rootless && hasUserManager()),
  apparmor: apparmorEnabled,
  selinux: selinuxEnabled,
  resctrl: (...call) => locateGroups(...call),
  refuse(config) {
    refuseRootfs(config.rootfs);
    refuseHostNamespaces(config);
    if (config.netDevices.length > 0) refuseMissingDevices(config.netDevices);
  },
};

/** Root of a user namespace may be root of a whole system in it, whose systemd is the one to ask. */
export function hasUserManager(): boolean {
  return host.geteuid() !== 0 || Boolean(host.getenv("XDG_RUNTIME_DIR") || host.getenv("DBUS_SESSION_BUS_ADDRESS"));
}

/** root.path must be an existing directory and not a symlink: the tree below it is hostile, the way to it is not. */
function refuseRootfs(rootfs: string): void {
  const found = defenceDisabled("root-link") ? host.stat(rootfs) : host.lstat(rootfs);
  if (!found) throw new RuntError("config-invalid", `root filesystem ${rootfs}: no such file or directory`, { pointer: "/root/path" });
  const type = found.mode >> 12;
  if (type === 0o12) throw new RuntError("config-invalid", `root filesystem ${rootfs}: is a symlink`, { pointer: "/root/path" });
  if (type !== 0o4) throw new RuntError("config-invalid", `root filesystem ${rootfs}: not a directory`, { pointer: "/root/path" });
}
