/** Mounts, namespaces, resources, devices and filters. */
import { broken, type Case } from "../case.ts";

const TMPFS = { destination: "/cache", type: "tmpfs", source: "tmpfs" };
const BIND = { destination: "/data", type: "bind", source: "/srv/data" };
const OVERLAY = { destination: "/cache", type: "overlay", source: "overlay" };
const LAYERS = "lowerdir=/srv:/srv/data";
const ON_OVERLAY = {
  fixed: { "/mounts/-": { ...OVERLAY, options: [LAYERS] } },
  facts: { filesystems: ["proc", "tmpfs", "devpts", "sysfs", "overlay"] },
};
const NEW = "/mounts/-";
const AT = "/mounts/4";
const R = "/linux/resources";
const S = "/linux/seccomp";
const option = (code: string, ...options: string[]) =>
  broken(code, { [NEW]: { ...TMPFS, options } }, { fixed: { [NEW]: TMPFS }, at: `${AT}/options/${options.length - 1}` });
const call = (code: string, at: string, entry: object) =>
  broken(code, { [S]: { defaultAction: "SCMP_ACT_ALLOW", syscalls: [entry] } }, { at: `${S}/syscalls/0${at}` });

export const LINUX: readonly Case[] = [
  option("mount-option-unknown", "nosiud"),
  option("mount-option-unknown", "ro", "sz=1m"),
  option("mount-option-unknown", "RO"),
  option("mount-option-value", "mode=999"),
  option("mount-option-value", "size=-1"),
  option("mount-option-value", "nr_inodes=many"),
  option("mount-option-value", "uid=root"),
  broken("mount-option-unknown", { [NEW]: { ...OVERLAY, options: [LAYERS, "gid=5"] } }, { ...ON_OVERLAY, at: `${AT}/options/1` }),
  broken("mount-option-value", { [NEW]: { ...OVERLAY, options: [LAYERS, "index=yes"] } }, { ...ON_OVERLAY, at: `${AT}/options/1` }),
  broken(
    "overlay-layers",
    { [NEW]: { ...OVERLAY, options: [LAYERS, "upperdir=/srv/data"] } },
    { ...ON_OVERLAY, fixed: { [NEW]: { ...OVERLAY, options: [LAYERS, "upperdir=/srv/data", "workdir=/srv/work"] } }, at: AT },
  ),
  broken(
    "mount-option-value",
    { [NEW]: { ...TMPFS, type: "ramfs", options: ["mode=9"] } },
    {
      fixed: { [NEW]: { ...TMPFS, type: "ramfs", options: ["mode=700", "size=1m"] } },
      facts: { filesystems: ["proc", "tmpfs", "devpts", "sysfs", "ramfs"] },
      at: `${AT}/options/0`,
    },
  ),
  broken("filesystem-missing", { [NEW]: { ...TMPFS, type: "none" } }, { fixed: { [NEW]: TMPFS }, at: `${AT}/type` }),
  broken(
    "remount-not-mounted",
    { [NEW]: { ...TMPFS, destination: "/dev/none", options: ["remount"] } },
    { fixed: { [NEW]: { ...TMPFS, destination: "/dev/pts", options: ["remount"] } }, at: `${AT}/destination` },
  ),
  option("mount-option-ignored", "_netdev"),
  option("mount-option-ignored", "auto"),
  broken("mount-option-contradiction", { [NEW]: { ...TMPFS, options: ["suid", "nosuid"] } }, { at: `${AT}/options/0` }),
  broken("mount-option-contradiction", { [NEW]: { ...TMPFS, options: ["noexec", "exec"] } }, { at: `${AT}/options/0` }),
  broken("mount-destination-relative", { [NEW]: { ...TMPFS, destination: "tmp/x" } }, { at: `${AT}/destination` }),
  broken("mount-destination-host", { [NEW]: { ...TMPFS, destination: "/bundle/rootfs/tmp/x" } }, { at: `${AT}/destination` }),
  broken("mount-on-root", { [NEW]: { ...TMPFS, destination: "/tmp/.." } }, { at: `${AT}/destination` }),
  broken("mount-inside-proc", { [NEW]: { ...TMPFS, destination: "/proc/sys" } }, { at: `${AT}/destination` }),
  broken("mount-on-proc", { "/mounts/0": { destination: "/proc", type: "sysfs", source: "sysfs" } }, { at: "/mounts/0/destination" }),
  broken("mount-kind", { [NEW]: { ...TMPFS, destination: "/proc/meminfo" } }, { at: `${AT}/destination` }),
  broken("mount-kind", { [NEW]: { ...TMPFS, destination: "/proc/stat" } }, { at: `${AT}/destination`, live: true }),
  broken("mount-type-unknown", { [NEW]: { ...TMPFS, type: "ramdisk" } }, { at: `${AT}/type` }),
  broken("mount-source-missing", { [NEW]: { ...BIND, source: "/srv/data/none", options: ["bind"] } }, { at: `${AT}/source` }),
  broken(
    "mount-kind",
    { [NEW]: { ...BIND, source: "/srv/data/file", options: ["bind"] } },
    {
      at: `${AT}/destination`,
      files: { "/srv/data/file": { kind: "file" } },
    },
  ),
  broken("mount-hidden", { [NEW]: TMPFS, "/mounts/5": TMPFS }, { fixed: { [NEW]: TMPFS }, at: `${AT}/destination` }),
  broken("hidden-path-relative", { "/linux/readonlyPaths": ["sys"] }, { at: "/linux/readonlyPaths/0" }),
  broken("root-propagation-unknown", { "/linux/rootfsPropagation": "public" }),
  broken("namespace-unknown", { "/linux/namespaces/4/type": "mnt" }),
  broken("namespace-unknown", { "/linux/namespaces/0/type": "PID" }),
  broken("namespace-duplicate", { "/linux/namespaces/-": { type: "mount" } }, { at: "/linux/namespaces/6/type" }),
  broken("namespace-path-relative", { "/linux/namespaces/2/path": "proc/1/ns/ipc" }),
  broken("namespace-path-missing", { "/linux/namespaces/3/path": "/run/runt-none/uts" }, { live: true }),
  broken("namespace-path-kind", { "/linux/namespaces/2/path": "/proc/self/ns/uts" }, { live: true }),
  broken("namespace-path-kind", { "/linux/namespaces/1/path": "/srv/data" }),
  broken("hostname-long", { "/hostname": "w".repeat(253) }),
  broken(
    "time-clock-unknown",
    { "/linux/namespaces/-": { type: "time" }, "/linux/timeOffsets": { realtime: { secs: 1 } } },
    {
      at: "/linux/timeOffsets/realtime",
    },
  ),
  broken("sysctl-value", { "/linux/sysctl": { "kernel.msgmax": "-5" } }, { at: "/linux/sysctl/kernel.msgmax" }),
  broken("sysctl-value", { "/linux/sysctl": { "fs.mqueue.msg_max": "0" } }, { at: "/linux/sysctl/fs.mqueue.msg_max" }),
  broken("sysctl-absent", { "/linux/sysctl": { "net.core.somaxcnn": "1" } }, { at: "/linux/sysctl/net.core.somaxcnn", live: true }),
  broken("memory-negative", { [`${R}/memory/reservation`]: -7 }),
  broken("memory-tiny", { [`${R}/memory/limit`]: 4096 }),
  broken("memory-unaligned", { [`${R}/memory/limit`]: 67108865 }),
  broken("memory-swap-low", { [`${R}/memory`]: { limit: 134217728, swap: 4096 } }, { at: `${R}/memory/swap` }),
  broken("cpu-quota", { [`${R}/cpu/quota`]: 999 }),
  broken("cpu-period", { [`${R}/cpu/period`]: 1000001 }),
  broken("cpu-period", { [`${R}/cpu/period`]: 999 }),
  broken("list-syntax", { [`${R}/cpu/cpus`]: "0;1" }),
  broken("list-syntax", { [`${R}/cpu/cpus`]: "3-1" }),
  broken("list-syntax", { [`${R}/cpu/mems`]: "node0" }),
  broken("cpus-offline", { [`${R}/cpu/cpus`]: "4" }),
  broken("nodes-offline", { [`${R}/cpu/mems`]: "0-1" }),
  broken("pids-low", { [`${R}/pids/limit`]: 0 }),
  broken("pids-negative", { [`${R}/pids/limit`]: -100 }),
  broken("cgroups-path", { "/linux/cgroupsPath": "../outside" }),
  broken("weight-range", { [`${R}/blockIO/weight`]: 1001 }),
  broken("page-size", { [`${R}/hugepageLimits`]: [{ pageSize: "2048", limit: 0 }] }, { at: `${R}/hugepageLimits/0/pageSize` }),
  broken("hugepage-unsupported", { [`${R}/hugepageLimits`]: [{ pageSize: "1GB", limit: 0 }] }, { at: `${R}/hugepageLimits/0/pageSize` }),
  broken("unified-key", { [`${R}/unified`]: { "../memory.max": "1" } }, { at: `${R}/unified/..~1memory.max` }),
  call("seccomp-action", "/action", { names: ["mkdir"], action: "ERRNO" }),
  call("seccomp-errno", "/errnoRet", { names: ["mkdir"], action: "SCMP_ACT_ERRNO", errnoRet: 5000 }),
  call("seccomp-errno", "/errnoRet", { names: ["mkdir"], action: "SCMP_ACT_KILL", errnoRet: 1 }),
  call("seccomp-operator", "/args/0/op", {
    names: ["mkdir"],
    action: "SCMP_ACT_ERRNO",
    args: [{ index: 0, value: 0, op: "SCMP_CMP_EQUAL" }],
  }),
  broken("seccomp-action", { [S]: { defaultAction: "SCMP_ACT_DENY" } }, { at: `${S}/defaultAction` }),
];
