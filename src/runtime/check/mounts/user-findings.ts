/** Findings about mounts in a user namespace. */
import { type Entries, entry } from "../catalogue/entry.ts";

const TMPFS = { destination: "/cache", type: "tmpfs", source: "tmpfs" };
const BIND = { destination: "/data", type: "bind", source: "/srv/data" };
const REMOUNT = { destination: "/data", type: "none", source: "none" };
const MAP = [{ containerID: 0, hostID: 100000, size: 65536 }];
const USER = { "/linux/namespaces/-": { type: "user" }, "/linux/uidMappings": MAP, "/linux/gidMappings": MAP };
const HOST_MOUNTS = `20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
21 20 0:21 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw
22 20 0:22 / /sys rw,nosuid,nodev,noexec,relatime - sysfs sysfs rw
`;
const NEW = "/mounts/-";
const AT = "/mounts/4";

export const MOUNTS_OF_USER: Entries = {
  "mount-point-denied": entry(
    "error",
    "A mount point that the container's root may not make",
    "user_namespaces(7)",
    "In a user namespace, the namespace's root makes the mount points. For files whose owner is not mapped, it is an ordinary user.",
    "make it in the image, or give the root filesystem the owner of the mappings",
    {
      broken: { [NEW]: TMPFS, ...USER },
      fixed: { [NEW]: { ...TMPFS, destination: "/dev/shm" }, ...USER },
      at: `${AT}/destination`,
    },
  ),
  "mount-host-namespace": entry(
    "error",
    "A filesystem that shows a namespace of the host",
    "user_namespaces(7)",
    "In a user namespace, sysfs needs the container's own network namespace, proc its own pid namespace, and mqueue its own ipc namespace.",
    "add the namespace, or bind the host's",
    { broken: { ...USER, "/linux/namespaces/1": null }, fixed: USER, at: "/mounts/3/type" },
  ),
  "mount-flags-locked": entry(
    "error",
    "An option that would clear a flag of the host's mount in a user namespace",
    "mount_namespaces(7)",
    "A user namespace cannot change the protecting flags and the access-time flags of a mount of the host.",
    "leave the option out, or mount the source on the host with these flags",
    {
      broken: { ...USER, [NEW]: { ...BIND, options: ["rbind", "strictatime"] } },
      fixed: { ...USER, [NEW]: { ...BIND, options: ["rbind", "relatime"] } },
      at: `${AT}/options`,
      files: { "/proc/self/mountinfo": { kind: "file", text: HOST_MOUNTS } },
    },
  ),
  "remount-host-filesystem": entry(
    "error",
    "A remount of the host's filesystem in a user namespace",
    "mount(2)",
    "Without the option bind, a remount changes the filesystem for all of its mounts. That takes CAP_SYS_ADMIN on the host.",
    'write "bind" and "remount" to change the mount alone',
    {
      broken: { ...USER, [NEW]: { ...BIND, options: ["rbind"] }, "/mounts/5": { ...REMOUNT, options: ["remount", "ro"] } },
      fixed: { ...USER, [NEW]: { ...BIND, options: ["rbind"] }, "/mounts/5": { ...REMOUNT, options: ["bind", "remount", "ro"] } },
      at: "/mounts/5/options",
      files: { "/proc/self/mountinfo": { kind: "file", text: HOST_MOUNTS } },
    },
  ),
  "mount-too-revealing": entry(
    "error",
    "A procfs or sysfs that shows more than the host's",
    "mount_namespaces(7)",
    "A user namespace may mount one only if the host has a complete one: not covered, equally writable, and with the same access-time flags.",
    "leave the option out, or bind the host's",
    {
      broken: { ...USER, "/mounts/3/options": ["nosuid", "noexec", "nodev", "ro", "noatime"] },
      fixed: { ...USER, "/mounts/3/options": ["nosuid", "noexec", "nodev", "ro"] },
      at: "/mounts/3",
      files: { "/proc/self/mountinfo": { kind: "file", text: HOST_MOUNTS } },
    },
  ),
};
