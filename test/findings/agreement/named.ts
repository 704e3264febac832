/** Edits of the hello bundle on which validate and create have disagreed, one of each kind, and neighbours that are taken. */
import { existsSync } from "node:fs";
import type { Edits } from "../../../src/runtime/check/catalogue/index.ts";

const bind = (destination: string, source: string, ...options: string[]): Edits => ({
  "/mounts/-": { destination, type: "bind", source, options: ["rbind", ...options] },
});
const mount = (destination: string, type: string, ...options: string[]): Edits => ({
  "/mounts/-": { destination, type, source: type, options },
});
const device = (path: string, minor = 3): Edits => ({ "/linux/devices": [{ path, type: "c", major: 1, minor }] });
const sysctl = (key: string, value: string): Edits => ({ "/linux/sysctl": { [key]: value } });
const architectures = (...names: string[]): Edits => ({
  "/linux/seccomp": { defaultAction: "SCMP_ACT_ALLOW", architectures: names.map((name) => `SCMP_ARCH_${name}`) },
});
const user = (hostID: number): Edits => ({
  "/linux/namespaces/-": { type: "user" },
  "/linux/uidMappings": [{ containerID: 0, hostID, size: 65536 }],
  "/linux/gidMappings": [{ containerID: 0, hostID, size: 65536 }],
});
const R = "/linux/resources";
const RT_IO: Edits = { "/process/ioPriority": { class: "IOPRIO_CLASS_RT", priority: 4 } };
const HOOK = (kind: string): Edits => ({ "/hooks": { [kind]: [{ path: "/bin/true" }] } });
const groups = (count: number): Edits => ({ "/process/user/additionalGids": Array.from({ length: count }, (_, id) => id) });

const remount = (destination: string, ...options: string[]) => ({
  destination,
  type: "none",
  source: "none",
  options: ["remount", ...options],
});
/** The mount of one edit, and a remount of it. */
const again = (edits: Edits, ...options: string[]): Edits => ({ ...edits, "/mounts/7": remount(destinationOf(edits), ...options) });
const destinationOf = (edits: Edits): string => (edits["/mounts/-"] as { destination: string }).destination;
/** A mount in one that was remounted. */
const below = (type: string, word: string, ...options: string[]): Edits => ({
  ...again(mount("/mnt", type, ...options), "bind", word),
  "/mounts/8": { destination: "/mnt/x", type: "tmpfs", source: "tmpfs" },
});
const fifo = (path: string): Edits => ({ "/linux/devices": [{ path, type: "p" }] });
const owned = (path: string, owner: object): Edits => ({ "/linux/devices": [{ path, type: "c", major: 1, minor: 3, ...owner }] });
const CGROUPS = (...options: string[]): Edits => mount("/sys/fs/cgroup", "cgroup", ...options);
const FIFO: Edits = { ...CGROUPS(), ...fifo("/sys/fs/cgroup/x") };
/** Of v2 there is nothing beside the hierarchy. */
const BESIDE: readonly [title: string, edits: Edits, code?: string] = existsSync("/sys/fs/cgroup/cgroup.controllers")
  ? ["a FIFO in the hierarchy of cgroups", FIFO, "device-place"]
  : ["a FIFO beside the hierarchies of cgroups", FIFO];
const BOUND_PROC = { type: "proc", source: "data", options: ["bind"] };
/** In the container's network namespace, before anything is written to its settings. */
const ADDS_INTERFACE: Edits = {
  "/hooks": {
    createContainer: [{ path: "/usr/bin/ip", args: ["ip", "link", "add", "eth7", "type", "veth", "peer", "name", "eth8"] }],
  },
};

const WORDS_OF_BINDS = [
  ...["mode=755", "size=65536k", "uid=0", "gid=5", "newinstance", "ptmxmode=0666", "context=x", "nr_inodes=1k", "data=ordered"],
  ...["lowerdir=/x", "hidepid=2", "foo", "foo=bar", "noexce"],
];

/** With the code of the finding that is the error; undefined: create takes it, and validate finds no error. */
export const NAMED: readonly (readonly [title: string, edits: Edits, code?: string])[] = [
  ...WORDS_OF_BINDS.map((word) => [`a bind mount with ${word}`, bind("/mnt", "data", word)] as const),
  ["65,536 groups", groups(65_536)],
  ["70,000 groups", groups(70_000), "groups-many"],
  ["an architecture of another byte order", architectures("X86_64", "S390X"), "seccomp-architecture-order"],
  ["an architecture of the same byte order", architectures("X86_64", "AARCH64")],
  ["a file over /dev/null", bind("/dev/null", "file")],
  ["the same in a user namespace", { ...user(100_000), ...bind("/dev/null", "file") }],
  ["a file over a device that is asked for", { ...bind("/dev/null", "file"), ...device("/dev/null") }, "device-in-the-way"],
  ["another device over /dev/zero", bind("/dev/zero", "/dev/full")],
  ["the same device over /dev/null", bind("/dev/null", "/dev/null")],
  ["a directory over /dev/stdin", bind("/dev/stdin", "data")],
  ["a file over /dev/ptmx", bind("/dev/ptmx", "file"), "device-in-the-way"],
  ["/dev/ptmx as a device of a user namespace", { ...user(100_000), ...device("/dev/ptmx", 5) }],
  ["a device at /dev", device("/dev"), "device-in-the-way"],
  ["a device at a link of every container", device("/dev/stdout"), "device-in-the-way"],
  ["a device below /dev/ptmx", device("/dev/ptmx/x"), "device-in-the-way"],
  ["a device below another", device("/dev/null/x"), "device-in-the-way"],
  ["a device at the root of a bind mount", { ...bind("/mnt", "/dev/full"), ...device("/mnt") }, "device-in-the-way"],
  ["a device in a read-only bind mount", { ...bind("/mnt", "data", "ro"), ...device("/mnt/n") }, "device-place"],
  ["a mount at a name of 256 bytes", mount(`/${"n".repeat(256)}`, "tmpfs"), "path-long"],
  ["a mount at a name of 255 bytes", mount(`/${"n".repeat(255)}`, "tmpfs")],
  ["a working directory of 128 letters of two bytes", { "/process/cwd": `/${"é".repeat(128)}` }, "path-long"],
  ["a mount under read-only /sys", mount("/sys/none", "tmpfs"), "mount-point-kernel"],
  ["a mount on a directory of /sys", mount("/sys/kernel/mm", "tmpfs")],
  ["a file on a directory of /sys", bind("/sys/kernel/mm", "file"), "mount-kind"],
  ["a mount in devpts", mount("/dev/pts/x", "tmpfs"), "mount-point-kernel"],
  ["a mount over links in a circle", mount("/loop", "tmpfs"), "path-links"],
  ["an overlay of one layer", mount("/mnt", "overlay", "lowerdir=@/data"), "overlay-layers"],
  ["an overlay of two layers", mount("/mnt", "overlay", "lowerdir=@/data:@/more")],
  ["an overlay of a layer that is not there", mount("/mnt", "overlay", "lowerdir=@/data:@/none"), "overlay-directory"],
  ["an overlay without workdir", mount("/mnt", "overlay", "lowerdir=@/data", "upperdir=@/upper"), "overlay-layers"],
  ["a working directory over a link of the kernel's", { "/process/cwd": "/proc/self/root" }, "path-links"],
  ["a working directory over a link to one", { "/process/cwd": "/magic" }, "path-links"],
  ["a working directory in /proc", { "/process/cwd": "/proc/self" }],
  ["a working directory that /proc does not have", { "/process/cwd": "/proc/none" }, "cwd-not-made"],
  ["a working directory that is a device", { "/process/cwd": "/dev/null" }, "cwd-not-directory"],
  ["a masked path over a link of the kernel's", { "/linux/maskedPaths": ["/proc/self/cwd"] }, "path-links"],
  ["msg_max above what the kernel takes", sysctl("fs.mqueue.msg_max", "65537"), "sysctl-value"],
  ["the highest msg_max", sysctl("fs.mqueue.msg_max", "65536")],
  ["a sysctl of the host's root", { ...user(100_000), ...sysctl("kernel.domainname", "x") }, "sysctl-user-namespace"],
  ["the same where the container's root is the host's", { ...user(0), ...sysctl("kernel.domainname", "x") }],
  ["a program above a working directory that is made", { "/process/cwd": "/new/one", "/process/args": [".././..//bin/true"] }],
  ["the same in a new filesystem", { ...mount("/mnt", "tmpfs"), "/process/cwd": "/mnt/one", "/process/args": ["../../bin/true"] }],
  [
    "a program below a working directory that is made",
    { "/process/cwd": "/new", "/process/args": ["x/../../bin/true"] },
    "program-missing",
  ],
  ["an empty sysctl of a small number", sysctl("kernel.msgmni", "")],
  ["a program that is a device", { "/process/args": ["/dev/null"], ...HOOK("prestart") }, "program-kind"],
  ["one process and a hook of init", { [`${R}/pids`]: { limit: 1 }, ...HOOK("createContainer") }, "pids-hooks"],
  ["no process and a hook of init", { [`${R}/pids`]: { limit: 0 }, ...HOOK("startContainer") }, "pids-hooks"],
  ["one process and a hook of the runtime", { [`${R}/pids`]: { limit: 1 }, ...HOOK("createRuntime") }],
  ["a read-only path over a link of every container", { "/linux/readonlyPaths": ["/dev/stdin"] }, "path-links"],
  ["a read-only path below one", { "/linux/readonlyPaths": ["/dev/fd/0"] }, "path-links"],
  ["a masked path that one leads to", { "/linux/maskedPaths": ["/dev/core", "/dev/fd"] }],
  ["a working directory over one", { "/process/cwd": "/dev/stdout" }, "path-links"],
  ["less than no memory for TCP", { [`${R}/memory`]: { kernelTCP: -2 } }, "memory-negative"],
  ["a node bound over a file of procfs", { ...user(100_000), ...device("/proc/cpuinfo") }],
  ["a node bound in procfs, where nothing is", { ...user(100_000), ...device("/proc/none") }, "device-place"],
  ["a node bound in mqueue", { ...user(100_000), ...device("/dev/mqueue/x") }],
  ["a node bound below a queue", { ...user(100_000), ...device("/dev/mqueue/x/y") }, "device-place"],
  ["the node that devpts has", { "/linux/devices": [{ path: "/dev/pts/ptmx", type: "c", major: 5, minor: 2 }] }],
  ["another in its place", device("/dev/pts/ptmx", 5), "device-place"],
  ["real time for input and output in a user namespace", { ...user(100_000), ...RT_IO }, "io-priority-rights"],
  ["the same without one", RT_IO],
  ["a node bound over a directory of procfs", { ...user(100_000), ...device("/proc/sys") }, "device-place"],
  ["groups that are not mapped", { ...user(100_000), ...sysctl("net.ipv4.ping_group_range", "0 65536") }, "sysctl-groups"],
  ["groups that are", { ...user(100_000), ...sysctl("net.ipv4.ping_group_range", "0 65535") }],
  ["groups in the wrong order", { ...user(100_000), ...sysctl("net.ipv4.ping_group_range", "2 1") }],
  ["a setting of interfaces of 33 bits", sysctl("net.ipv4.conf.all.rp_filter", "2147483648"), "sysctl-form"],
  ["an empty sysctl", sysctl("net.ipv4.ip_forward", "")],
  ["more numbers than a sysctl has", sysctl("net.core.somaxconn", "128 x")],
  ["a sysctl that only the first network namespace has", sysctl("net.ipv4.tcp_mem", "1 2 3"), "sysctl-absent"],
  ["a sysctl of an interface that is not there", sysctl("net.ipv4.conf.eth7.rp_filter", "1"), "sysctl-interface"],
  ["a text where a sysctl has numbers", sysctl("net.ipv4.tcp_notsent_lowat", "4k"), "sysctl-form"],
  ["a buffer of no bytes", sysctl("net.ipv4.tcp_rmem", "0"), "sysctl-value"],
  ["a buffer of one byte", sysctl("net.ipv4.tcp_rmem", "1")],
  ["ports for anybody behind the local ports", sysctl("net.ipv4.ip_unprivileged_port_start", "40000"), "sysctl-ports"],
  ["other access times in a user namespace", { ...user(100_000), ...bind("/opt", "data", "strictatime") }, "mount-flags-locked"],
  ["the same access times", { ...user(100_000), ...bind("/opt", "data", "relatime") }],
  ["other access times without one", bind("/opt", "data", "strictatime")],
  ["other access times of a remount", { ...user(100_000), ...again(bind("/opt", "data"), "bind", "noatime") }, "mount-flags-locked"],
  ["other access times of a new filesystem", { ...user(100_000), ...again(mount("/opt", "tmpfs"), "bind", "noatime") }],
  ["a sysfs with other access times in a user namespace", { ...user(100_000), "/mounts/5/options": ["noatime"] }, "mount-too-revealing"],
  ["such a sysfs without one", { "/mounts/5/options": ["noatime"] }],
  ["a procfs without access times of directories", { ...user(100_000), "/mounts/0/options": ["nodiratime"] }, "mount-too-revealing"],
  ["a sysfs that is remounted so", { ...user(100_000), "/mounts/-": remount("/sys", "bind", "noatime") }, "mount-flags-locked"],
  ["a remount of a type that the kernel does not have", { "/mounts/-": remount("/sys", "ro") }],
  ["a program under a procfs", mount("/bin", "proc"), "program-missing"],
  ["a program in a procfs", { "/process/args": ["/proc/version"] }, "program-not-executable"],
  ["a program that is a directory of one", { "/process/args": ["/proc/sys"] }, "program-kind"],
  ["a program through PATH with a procfs in it", { ...mount("/usr", "proc"), "/process/args": ["true"] }],
  BESIDE,
  ["one beside read-only ones", { ...CGROUPS("ro"), ...fifo("/sys/fs/cgroup/x") }, "device-place"],
  ["a /dev that is remounted read-only", { "/mounts/-": remount("/dev", "bind", "ro") }, "device-place"],
  ["a read-only /dev", { "/mounts/1/options": ["ro", "nosuid"] }],
  ["a mount in a tmpfs that is remounted read-only", below("tmpfs", "ro"), "mount-point-read-only"],
  ["one in a tmpfs that is remounted writable", below("tmpfs", "rw")],
  ["one in a read-only ramfs of which the mount is remounted writable", below("ramfs", "rw", "ro"), "mount-point-read-only"],
  [
    "one in a read-only ramfs",
    { ...mount("/mnt", "ramfs", "ro"), "/mounts/7": mount("/mnt/x", "tmpfs")["/mounts/-"] },
    "mount-point-read-only",
  ],
  ["a device of a user who is not mapped", { ...user(100_000), ...owned("/dev/x", { uid: 70_000 }) }, "device-owner-not-mapped"],
  ["one of a group that is not mapped", { ...user(100_000), ...owned("/dev/x", { gid: 70_000 }) }, "device-owner-not-mapped"],
  ["a working directory below a masked path", { "/process/cwd": "/proc/self/ns", "/linux/maskedPaths": ["/proc"] }, "cwd-not-made"],
  ["one below a masked path that is relative", { "/process/cwd": "/tmp/new", "/linux/maskedPaths": ["tmp"] }, "cwd-not-made"],
  ["one that is masked itself", { "/process/cwd": "/proc/sys", "/linux/maskedPaths": ["/proc/sys"] }],
  ["one below a masked path that is not there", { "/process/cwd": "/new/one", "/linux/maskedPaths": ["/new"] }, "cwd-not-made"],
  ["one in a directory of the root that is masked", { "/process/cwd": "/tmp/new", "/linux/maskedPaths": ["/tmp"] }, "cwd-not-made"],
  [
    "a mask over a link of the kernel's below another process",
    { "/linux/namespaces": [{ type: "mount" }, { type: "uts" }], "/linux/maskedPaths": ["/proc/1", "/proc/self/fd/0"] },
    "path-links",
  ],
  ["a share of the inodes", mount("/mnt", "tmpfs", "nr_inodes=10%"), "mount-option-value"],
  ["a share of the blocks", mount("/mnt", "tmpfs", "nr_blocks=5%"), "mount-option-value"],
  ["a share of the memory", mount("/mnt", "tmpfs", "size=5%")],
  ["a mode with leading zeros", mount("/mnt", "tmpfs", "mode=001777")],
  ["a mode of 33 bits", mount("/mnt", "tmpfs", "mode=40000000000"), "mount-option-value"],
  ["a hexadecimal owner", mount("/mnt", "tmpfs", "uid=0x3e8")],
  ["an owner that is no octal number", mount("/mnt", "tmpfs", "uid=08"), "mount-option-value"],
  ["the number that is no owner", mount("/mnt", "tmpfs", "gid=4294967295"), "mount-option-value"],
  ["an octal owner who is not mapped", { ...user(100_000), ...mount("/opt", "tmpfs", "uid=0200000") }, "mount-id-not-mapped"],
  ["options of a tmpfs in one word", mount("/mnt", "tmpfs", "size=1m,mode=755")],
  ["a wrong one among them", mount("/mnt", "tmpfs", "size=1m,moed=755"), "mount-option-unknown"],
  ["a flag of the mount among them", mount("/mnt", "tmpfs", "size=1m,nosuid"), "mount-option-unknown"],
  ["a flag of the filesystem among them", mount("/mnt", "tmpfs", "size=1m,ro")],
  ["nodes of a memory policy", mount("/mnt", "tmpfs", "mpol=bind:0,0,size=1m")],
  ["options of devpts in one word", mount("/mnt", "devpts", "newinstance,ptmxmode=0666,mode=620")],
  ["options of a ramfs in one word", mount("/mnt", "ramfs", "mode=700,strange")],
  ["options of an overlay in one word", mount("/mnt", "overlay", "lowerdir=@/data,upperdir=@/upper,workdir=@/work")],
  ["a layer among them that is not there", mount("/mnt", "overlay", "lowerdir=@/data:@/none,index=off"), "overlay-directory"],
  ["a layer with a comma in its name", mount("/mnt", "overlay", "lowerdir=@/data:@/a,b")],
  ["options of a remount in one word", again(mount("/mnt", "tmpfs"), "size=1m,ro")],
  ["a list of ports where the host has one", sysctl("net.ipv4.ip_local_reserved_ports", "8080,9000-9100")],
  ["an interface that a hook brings", { ...ADDS_INTERFACE, ...sysctl("net.ipv4.conf.eth7.forwarding", "1") }],
  ["a remount of the host's filesystem", { ...user(100_000), ...again(bind("/opt", "data"), "ro") }, "remount-host-filesystem"],
  ["one with a size", { ...user(100_000), ...again(bind("/opt", "data"), "size=64m") }, "remount-host-filesystem"],
  ["a remount of its mount alone", { ...user(100_000), ...again(bind("/opt", "data"), "bind", "ro") }],
  ["a remount of the container's own filesystem", { ...user(100_000), ...again(mount("/opt", "tmpfs"), "ro") }],
  ["a procfs bound on /proc", bind("/proc", "processes")],
  ["a directory bound on /proc", bind("/proc", "data"), "mount-on-proc"],
  ["a directory bound there as a procfs", { "/mounts/-": { ...BOUND_PROC, destination: "/./proc/" } }, "mount-on-proc"],
  ["a device of a user without a user namespace", owned("/dev/x", { uid: 70_000 })],
];
