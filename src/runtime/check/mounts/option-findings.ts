/** Findings about the options of mounts, and ids of a mount. */
import { type Entries, entry } from "../catalogue/entry.ts";

const TMPFS = { destination: "/cache", type: "tmpfs", source: "tmpfs" };
const BIND = { destination: "/data", type: "bind", source: "/srv/data" };
const MAP = [{ containerID: 0, hostID: 100000, size: 65536 }];
const USER = { "/linux/namespaces/-": { type: "user" }, "/linux/uidMappings": MAP, "/linux/gidMappings": MAP };
const NEW = "/mounts/-";
const AT = "/mounts/4";

export const MOUNT_WORDS: Entries = {
  "mount-bind-data": entry(
    "warning",
    "Options of a filesystem on a bind mount",
    "config.md#linux-mount-options",
    "A bind mount shows a filesystem that is already mounted, so the options have no effect. runc refuses them since 1.2.",
    "leave them out, or correct a misspelt option",
    { broken: { [NEW]: { ...BIND, destination: "/dev", options: ["bind", "remount", "size=1m"] } }, at: `${AT}/options` },
  ),
  "mount-option-unknown": entry(
    "error",
    "An unknown mount option",
    "config.md#linux-mount-options",
    "Options that the kernel does not know are passed to the filesystem, which refuses unknown ones.",
    "correct the word, or leave it out",
    { broken: { [NEW]: { ...TMPFS, options: ["noexce"] } }, fixed: { [NEW]: { ...TMPFS, options: ["noexec"] } }, at: `${AT}/options/0` },
  ),
  "mount-option-value": entry(
    "error",
    "A mount option with an invalid value",
    "tmpfs(5)",
    "The filesystem refuses it.",
    "correct the value",
    {
      broken: { [NEW]: { ...TMPFS, options: ["size=64x"] } },
      fixed: { [NEW]: { ...TMPFS, options: ["size=64m"] } },
      at: `${AT}/options/0`,
    },
  ),
  "mount-option-contradiction": entry(
    "warning",
    "Two mount options that exclude each other",
    "config.md#linux-mount-options",
    "The later one wins.",
    "leave one of them out",
    {
      broken: { [NEW]: { ...TMPFS, options: ["ro", "rw"] } },
      fixed: { [NEW]: { ...TMPFS, options: ["rw"] } },
      at: `${AT}/options/0`,
    },
  ),
  "mount-option-recursive": entry(
    "advice",
    "A recursive option on a bind mount that is not recursive",
    "config.md#linux-mount-options",
    "bind shows only the top mount of a tree, so there is nothing below it to change.",
    "use rbind, or the option without its r",
    {
      broken: { [NEW]: { ...BIND, options: ["bind", "rro"] } },
      fixed: { [NEW]: { ...BIND, options: ["rbind", "rro"] } },
      at: `${AT}/options/1`,
    },
  ),
  "mount-option-ignored": entry(
    "warning",
    "A mount option without effect",
    "mount(8)",
    "Only administration programs of the host use it, or it belongs to another superblock.",
    "leave it out",
    {
      broken: { [NEW]: { ...TMPFS, options: ["nofail"] } },
      at: `${AT}/options/0`,
    },
  ),
  "mount-data-ignored": entry(
    "warning",
    "Options on a cgroup mount",
    "config-linux.md#control-groups",
    "The runtime shows the container's cgroup, with the mount options of the host.",
    "leave them out",
    {
      broken: { [NEW]: { destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["nsdelegate"] } },
      at: `${AT}/options`,
    },
  ),
  "mount-cgroup-option": entry(
    "error",
    "An option that cgroup v2 does not have",
    "config-linux.md#control-groups",
    "The kernel knows few options of such a mount. On v1 they have no effect.",
    "leave it out",
    {
      broken: { [NEW]: { destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["memory"] } },
      at: `${AT}/options/0`,
    },
  ),
  "mount-copy-up": entry(
    "error",
    "tmpcopyup on something other than a tmpfs",
    "tmpfs(5)",
    "It fills a new tmpfs with the directory that it covers.",
    "leave it out, or use type tmpfs",
    {
      broken: { [NEW]: { ...BIND, options: ["bind", "tmpcopyup"] } },
      at: `${AT}/options`,
    },
  ),
  "mount-link-option": entry(
    "error",
    "An option about symbolic links where it has no meaning",
    "crun(1)",
    "copy-symlink, src-nofollow and dest-nofollow are for bind mounts, and the first excludes the others.",
    "leave it out",
    { broken: { [NEW]: { ...TMPFS, options: ["copy-symlink"] } }, at: `${AT}/options` },
  ),
  "mount-mappings-half": entry(
    "error",
    "Only one of uidMappings and gidMappings",
    "config.md#posix-platform-mounts",
    "They are given together.",
    "add the other one",
    {
      broken: { [NEW]: { ...BIND, options: ["bind", "idmap"], uidMappings: MAP }, ...USER },
      fixed: { [NEW]: { ...BIND, options: ["bind", "idmap"], uidMappings: MAP, gidMappings: MAP }, ...USER },
      at: AT,
    },
  ),
  "mount-idmap": entry(
    "error",
    "Ids of a mount cannot be mapped as asked",
    "config.md#posix-platform-mounts",
    "A mount takes its own mappings, those of its option, or those of the container's user namespace; without any there is nothing to map.",
    "give the mount uidMappings and gidMappings, or the container a user namespace",
    { broken: { [NEW]: { ...BIND, options: ["bind", "idmap"] } }, at: `${AT}/options/1` },
  ),
  "mount-idmap-filesystem": entry(
    "error",
    "Mapped ids on a filesystem without ids to map",
    "mount_setattr(2)",
    "The kernel decides about the owner of files that it makes.",
    "leave the mapping out",
    {
      broken: { [NEW]: { destination: "/dev/mqueue", type: "mqueue", source: "mqueue", options: ["idmap"] }, ...USER },
      fixed: { [NEW]: { destination: "/dev/mqueue", type: "mqueue", source: "mqueue" }, ...USER },
      at: `${AT}/options/0`,
      facts: { filesystems: ["proc", "tmpfs", "devpts", "sysfs", "mqueue"] },
    },
  ),
  "mount-idmap-implied": entry(
    "warning",
    "Mappings without the option idmap",
    "config.md#posix-platform-mounts",
    "runt applies them to this mount only, like idmap.",
    "add idmap, or ridmap for the whole tree",
    {
      broken: { [NEW]: { ...BIND, options: ["bind"], uidMappings: MAP, gidMappings: MAP } },
      fixed: { [NEW]: { ...BIND, options: ["bind", "idmap"], uidMappings: MAP, gidMappings: MAP } },
      at: AT,
    },
  ),
  "mount-idmap-value-ignored": entry(
    "warning",
    "Two kinds of mappings for one mount",
    "config.md#posix-platform-mounts",
    "uidMappings and gidMappings take precedence over the value of the option.",
    "leave the value out",
    {
      broken: { [NEW]: { ...BIND, options: ["bind", "idmap=uids=0-1-1;gids=0-1-1"], uidMappings: MAP, gidMappings: MAP } },
      fixed: { [NEW]: { ...BIND, options: ["bind", "idmap"], uidMappings: MAP, gidMappings: MAP } },
      at: `${AT}/options/1`,
    },
  ),
  "mount-idmap-rootless": entry(
    "error",
    "Mapped ids on a mount, without rights on the host",
    "mount_setattr(2)",
    "This needs rights over the filesystem itself.",
    "leave the mapping out",
    {
      broken: { [NEW]: { ...BIND, options: ["bind", "idmap"] }, ...USER },
      fixed: { [NEW]: { ...BIND, options: ["bind"] }, ...USER },
      at: AT,
      rootless: true,
    },
  ),
  "mount-id-not-mapped": entry(
    "error",
    "An option names an id that the container does not have",
    "user_namespaces(7)",
    "uid= and gid= are ids of the container's user namespace.",
    "use an id that is mapped",
    {
      broken: { ...USER, [NEW]: { ...TMPFS, destination: "/work", options: ["uid=70000"] } },
      fixed: { ...USER, [NEW]: { ...TMPFS, destination: "/work", options: ["uid=1000"] } },
      at: `${AT}/options/0`,
    },
  ),
};
