/** The specification of the features document, as tables. */
import type { Mount } from "../support/config.ts";
import type { Context } from "./context.ts";

/** Minor version 1.N in which a property came. */
export const INTRODUCED: Readonly<Record<string, number>> = {
  ociVersionMin: 0,
  ociVersionMax: 0,
  hooks: 0,
  mountOptions: 0,
  annotations: 0,
  linux: 0,
  "linux.namespaces": 0,
  "linux.capabilities": 0,
  "linux.cgroup": 0,
  "linux.cgroup.v1": 0,
  "linux.cgroup.v2": 0,
  "linux.cgroup.systemd": 0,
  "linux.cgroup.systemdUser": 0,
  "linux.cgroup.rdma": 0,
  "linux.seccomp": 0,
  "linux.seccomp.enabled": 0,
  "linux.seccomp.actions": 0,
  "linux.seccomp.operators": 0,
  "linux.seccomp.archs": 0,
  "linux.seccomp.knownFlags": 0,
  "linux.seccomp.supportedFlags": 0,
  "linux.apparmor": 0,
  "linux.apparmor.enabled": 0,
  "linux.selinux": 0,
  "linux.selinux.enabled": 0,
  "linux.intelRdt": 1,
  "linux.intelRdt.enabled": 1,
  "linux.mountExtensions": 2,
  "linux.mountExtensions.idmap": 2,
  "linux.mountExtensions.idmap.enabled": 2,
  potentiallyUnsafeConfigAnnotations: 2,
  "linux.intelRdt.schemata": 3,
  "linux.intelRdt.monitoring": 3,
  "linux.memoryPolicy": 3,
  "linux.memoryPolicy.modes": 3,
  "linux.memoryPolicy.flags": 3,
  "linux.netDevices": 3,
  "linux.netDevices.enabled": 3,
};

/** Types of namespaces and their files below /proc/PID/ns. */
export const FILES_OF_NAMESPACES: Readonly<Record<string, string>> = {
  cgroup: "cgroup",
  ipc: "ipc",
  mount: "mnt",
  network: "net",
  pid: "pid",
  time: "time",
  user: "user",
  uts: "uts",
};

/** Mounts below /mnt that an option can be tried on: a new tmpfs where it would be refused as data if it were not known. */
export function mountFor(c: Context, option: string): Mount[] {
  const destination = `/mnt/${option}`;
  const tmpfs = (...options: string[]): Mount => ({ destination, type: "tmpfs", source: "tmpfs", options });
  const bound = (...options: string[]): Mount => ({ destination, type: "none", source: c.scratch("source"), options });
  const map = [{ containerID: 0, hostID: 1000, size: 1 }];
  switch (option) {
    case "bind":
    case "rbind":
      return [bound(option)];
    case "copy-symlink":
    case "src-nofollow":
    case "dest-nofollow":
      return [bound("bind", option)];
    case "idmap":
    case "ridmap":
      return [{ ...bound("rbind", option), uidMappings: map, gidMappings: map }];
    case "remount":
      return [tmpfs(), tmpfs("remount", "nosuid")];
    default:
      return [tmpfs(option)];
  }
}
