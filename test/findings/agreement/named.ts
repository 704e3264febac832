/** Edits of the hello bundle on which validate and create have disagreed, one of each kind, and neighbours that are taken. */
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
const groups = (count: number): Edits => ({ "/process/user/additionalGids": Array.from({ length: count }, (_, id) => id) });

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
  ["a file over /dev/null", bind("/dev/null", "file"), "device-in-the-way"],
  ["another device over /dev/zero", bind("/dev/zero", "/dev/full"), "device-in-the-way"],
  ["the same device over /dev/null", bind("/dev/null", "/dev/null")],
  ["a directory over /dev/stdin", bind("/dev/stdin", "data"), "device-in-the-way"],
  ["a device at /dev", device("/dev"), "device-in-the-way"],
  ["a device at a link of every container", device("/dev/stdout"), "device-in-the-way"],
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
  ["an empty sysctl", sysctl("net.ipv4.ip_forward", "")],
  ["more numbers than a sysctl has", sysctl("net.core.somaxconn", "128 x")],
  ["a sysctl that only the first network namespace has", sysctl("net.ipv4.tcp_mem", "1 2 3"), "sysctl-absent"],
  ["a sysctl of an interface that is not there", sysctl("net.ipv4.conf.eth7.rp_filter", "1"), "sysctl-interface"],
  ["a text where a sysctl has numbers", sysctl("net.ipv4.tcp_rmem", "4k"), "sysctl-form"],
  ["ports for anybody behind the local ports", sysctl("net.ipv4.ip_unprivileged_port_start", "40000"), "sysctl-ports"],
];
