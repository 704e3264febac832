/** Findings about `mounts`, and paths that are hidden or made read-only. */
import { type Entries, entry } from "./entry.ts";

const TMPFS = { destination: "/cache", type: "tmpfs", source: "tmpfs" };
const BIND = { destination: "/data", type: "bind", source: "/srv/data" };
const MAP = [{ containerID: 0, hostID: 100000, size: 65536 }];
const USER = { "/linux/namespaces/-": { type: "user" }, "/linux/uidMappings": MAP, "/linux/gidMappings": MAP };
const NEW = "/mounts/-";
const AT = "/mounts/4";

export const MOUNTS: Entries = {
  "mount-destination-empty": entry(
    "error",
    "A mount without a destination",
    "config.md#mounts",
    "It is required.",
    "name a directory of the container",
    {
      broken: { [NEW]: { ...TMPFS, destination: "" } },
      at: `${AT}/destination`,
    },
  ),
  "mount-destination-relative": entry(
    "warning",
    "A destination that is not absolute",
    "config.md#mounts",
    "It is taken from the container's root, as runc does; other runtimes refuse it.",
    "begin it with /",
    { broken: { [NEW]: { ...TMPFS, destination: "cache" } }, fixed: { [NEW]: TMPFS }, at: `${AT}/destination` },
  ),
  "mount-on-root": entry(
    "error",
    "A mount on the container's root",
    "config.md#mounts",
    "It would cover everything that the image has.",
    "use root.path for the root",
    {
      broken: { [NEW]: { ...TMPFS, destination: "/./" } },
      at: `${AT}/destination`,
    },
  ),
  "mount-on-proc": entry(
    "error",
    "Something other than a procfs on /proc",
    "config-linux.md#default-filesystems",
    "The runtime writes to files of /proc for the container: a directory that pretends to be one could make it write elsewhere (CVE-2019-16884).",
    "mount type proc there",
    { broken: { "/mounts/0": { destination: "/proc", type: "tmpfs", source: "tmpfs" } }, at: "/mounts/0/destination" },
  ),
  "mount-inside-proc": entry(
    "error",
    "A mount below /proc",
    "config-linux.md#default-filesystems",
    "Only a few single files may be replaced there, as lxcfs does; anything else could deceive the runtime.",
    "leave it out",
    { broken: { [NEW]: { ...TMPFS, destination: "/proc/self" } }, at: `${AT}/destination` },
  ),
  "mount-type-missing": entry(
    "error",
    "A mount without a type",
    "config.md#mounts",
    "Only a bind mount does without one.",
    "name the filesystem, or add the option bind",
    {
      broken: { [NEW]: { destination: "/cache", source: "tmpfs" } },
      fixed: { [NEW]: TMPFS },
      at: AT,
    },
  ),
  "mount-type-unknown": entry(
    "warning",
    "A filesystem that the kernel does not have loaded",
    "proc(5)",
    "It may come with a module when it is mounted; if it does not, the container cannot be created.",
    "correct the type, or load the module",
    { broken: { [NEW]: { ...TMPFS, type: "tmpsf" } }, fixed: { [NEW]: TMPFS }, at: `${AT}/type` },
  ),
  "filesystem-missing": entry(
    "error",
    "A filesystem that the kernel does not have",
    "modules.dep(5)",
    "It is neither built in nor a module.",
    "correct the type, or use another kernel",
    {
      broken: { [NEW]: { ...TMPFS, type: "tmpsf" } },
      fixed: { [NEW]: TMPFS },
      at: `${AT}/type`,
      files: { "/lib/modules/6.1.0/modules.dep": { kind: "file", text: "kernel/fs/xfs/xfs.ko:\n" } },
    },
  ),
  "mount-source-empty": entry(
    "error",
    "A bind mount without a source",
    "config.md#mounts",
    "There is nothing to bind.",
    "name a file or directory of the host",
    {
      broken: { [NEW]: { destination: "/data", type: "bind", options: ["bind"] } },
      at: AT,
    },
  ),
  "mount-source-missing": entry(
    "error",
    "The source of a bind mount is not there",
    "config.md#mounts",
    "Nothing is made on the host for a container: a path that is not there is a mistake in one of them.",
    "correct the path",
    {
      broken: { [NEW]: { ...BIND, source: "/srv/dta", options: ["rbind"] } },
      fixed: { [NEW]: { ...BIND, options: ["rbind"] } },
      at: `${AT}/source`,
    },
  ),
  "mount-kind": entry(
    "error",
    "A directory on a file, or a file on a directory",
    "mount(2)",
    "The kernel mounts directories on directories, and files on files. The destination was looked up in the root filesystem, links followed inside.",
    "mount it somewhere else",
    { broken: { [NEW]: { ...BIND, destination: "/etc/passwd", options: ["rbind"] } }, at: `${AT}/destination` },
  ),
  "mount-point-read-only": entry(
    "error",
    "A mount point that cannot be made",
    "config.md#mounts",
    "What is not there is made before it is mounted on, which takes a filesystem that can be written to.",
    "make it in the image or in the source, or mount the read-only part later",
    {
      broken: {
        "/mounts/-": { ...BIND, destination: "/opt", options: ["rbind", "ro"] },
        "/mounts/5": { ...TMPFS, destination: "/opt/cache" },
      },
      at: "/mounts/5/destination",
    },
  ),
  "mount-point-denied": entry(
    "error",
    "A mount point that the container's root may not make",
    "user_namespaces(7)",
    "In a user namespace the mount points are made by its root, who is an ordinary user for files whose owner is not mapped.",
    "make it in the image, or give the root filesystem the owner that the mappings say",
    {
      broken: { [NEW]: TMPFS, ...USER },
      fixed: { [NEW]: { ...TMPFS, destination: "/dev/shm" }, ...USER },
      at: `${AT}/destination`,
    },
  ),
  "remount-not-mounted": entry(
    "error",
    "A remount of what is no mount",
    "mount(2)",
    "The option remount changes a mount that is there already, and is for the very place where it is mounted.",
    "correct the destination, or leave remount out",
    {
      broken: { [NEW]: { ...TMPFS, destination: "/opt", options: ["remount", "nosuid"] } },
      fixed: { [NEW]: { ...TMPFS, destination: "/dev", options: ["remount", "nosuid"] } },
      at: `${AT}/destination`,
    },
  ),
  "overlay-layers": entry(
    "error",
    "An overlay without its directories",
    "mount(2)",
    "It needs lowerdir, and workdir where it has upperdir.",
    "name them in options, or mount a tmpfs",
    {
      broken: { [NEW]: { destination: "/cache", type: "overlay", source: "overlay" } },
      fixed: { [NEW]: { destination: "/cache", type: "overlay", source: "overlay", options: ["lowerdir=/srv:/srv/data"] } },
      at: AT,
      facts: { filesystems: ["proc", "tmpfs", "devpts", "sysfs", "overlay"] },
    },
  ),
  "mount-hidden": entry(
    "warning",
    "A mount that a later one hides",
    "config.md#mounts",
    "Mounts are made in their order: what is mounted at or above the place of an earlier one covers it.",
    "change the order, or leave one of them out",
    { broken: { [NEW]: { ...TMPFS, destination: "/dev/pts" } }, at: "/mounts/2/destination" },
  ),
  "mount-bind-implied": entry(
    "warning",
    "Type bind without the option bind",
    "config.md#linux-mount-options",
    "It is taken as a bind mount; mount(2) itself looks at the option alone.",
    'add the option "bind" or "rbind"',
    { broken: { [NEW]: BIND }, fixed: { [NEW]: { ...BIND, options: ["bind"] } }, at: `${AT}/type` },
  ),
  "mount-host-namespace": entry(
    "error",
    "A filesystem of a namespace that is the host's",
    "user_namespaces(7)",
    "In a user namespace sysfs takes a network namespace of the container's own, proc a pid namespace and mqueue an ipc namespace.",
    "add the namespace, or bind the host's",
    { broken: { ...USER, "/linux/namespaces/1": null }, fixed: USER, at: "/mounts/3/type" },
  ),
  "hidden-path-empty": entry(
    "error",
    "A masked or read-only path that is empty",
    "config-linux.md#masked-paths",
    "It names nothing.",
    "leave it out",
    { broken: { "/linux/maskedPaths": [""] }, fixed: { "/linux/maskedPaths": [] }, at: "/linux/maskedPaths/0" },
  ),
  "hidden-path-relative": entry(
    "warning",
    "A masked or read-only path that is not absolute",
    "config-linux.md#masked-paths",
    "It is a path in the container, and is taken from its root.",
    "begin it with /",
    {
      broken: { "/linux/maskedPaths": ["proc/kcore"] },
      fixed: { "/linux/maskedPaths": ["/proc/kcore"] },
      at: "/linux/maskedPaths/0",
    },
  ),
  "hidden-path-unbindable": entry(
    "error",
    "A read-only path in an unbindable mount",
    "mount(2)",
    "A path is made read-only by a bind mount of itself, which an unbindable mount does not allow.",
    "leave out unbindable, or make the whole mount read-only",
    {
      broken: {
        "/mounts/4": { ...BIND, options: ["rbind", "unbindable"] },
        "/linux/readonlyPaths": ["/data"],
      },
      fixed: { "/mounts/4": { ...BIND, options: ["rbind"] }, "/linux/readonlyPaths": ["/data"] },
      at: "/linux/readonlyPaths/0",
    },
  ),
  "hidden-paths-shared": entry(
    "error",
    "Masked or read-only paths without a mount namespace",
    "config-linux.md#masked-paths",
    "They would be hidden from the whole host.",
    "add a mount namespace",
    { broken: { "/linux/namespaces": [], "/linux/maskedPaths": ["/proc/kcore"] }, at: "/linux/maskedPaths" },
  ),
  "root-propagation-unknown": entry(
    "error",
    "A propagation that is not known",
    "config-linux.md#rootfs-mount-propagation",
    "It is shared, slave, private or unbindable, each also with an r in front.",
    "correct the word",
    {
      broken: { "/linux/rootfsPropagation": "rslav" },
      fixed: { "/linux/rootfsPropagation": "rslave" },
    },
  ),
  "root-propagation-ignored": entry(
    "warning",
    "A propagation without a new mount namespace",
    "config-linux.md#rootfs-mount-propagation",
    "The root of a mount namespace of somebody else stays what it is.",
    "leave it out, or add a mount namespace",
    {
      broken: { "/linux/namespaces": [{ type: "mount", path: "/proc/77/ns/mnt" }], "/linux/rootfsPropagation": "private" },
      at: "/linux/rootfsPropagation",
    },
  ),
};
