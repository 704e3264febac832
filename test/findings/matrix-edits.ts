/** Edits of real bundles that do no harm when the mutant is really created: right values and wrong ones, everything within the container. */
import type { Edits } from "../../src/runtime/check/catalogue/index.ts";
import type { Random } from "./mutate.ts";

type Draw = <T>(list: readonly T[]) => T;
const MAP = [{ containerID: 0, hostID: 100000, size: 65536 }];
const R = "/linux/resources";
const CAPS = ["CAP_KILL", "CAP_CHOWN", "CAP_SYS_ADMIN", "CAP_NET_RAW", "CAP_BPF", "CAP_SYS_ADMN", "KILL", "cap_kill", ""];
const LIMITS = [
  "RLIMIT_NOFILE",
  "RLIMIT_CORE",
  "RLIMIT_NPROC",
  "RLIMIT_STACK",
  "RLIMIT_AS",
  "RLIMIT_MSGQUEUE",
  "RLIMIT_RTTIME",
  "RLIMIT_NOFILES",
  "CORE",
];
const TYPES = [
  "tmpfs",
  "tmpfs",
  "tmpfs",
  "bind",
  "bind",
  "proc",
  "sysfs",
  "mqueue",
  "devpts",
  "cgroup",
  "ramfs",
  "none",
  "tmpsf",
  "overlay",
  "",
];
const PLACES = [
  "/mnt",
  "/mnt/a/b",
  "/tmp",
  "/dev/shm",
  "/dev/x",
  "/etc",
  "/etc/passwd",
  "/proc",
  "/proc/self",
  "/proc/meminfo",
  "/sys/fs/cgroup",
  "mnt",
  "/",
  "",
  "/../mnt",
  "/bin",
  "/run",
];
const WORDS = [
  "ro",
  "rw",
  "nosuid",
  "nodev",
  "noexec",
  "exec",
  "relatime",
  "strictatime",
  "noatime",
  "nodiratime",
  "bind",
  "rbind",
  "private",
  "rprivate",
  "slave",
  "shared",
  "unbindable",
  "size=1m",
  "size=0",
  "size=50%",
  "size=x",
  "mode=755",
  "mode=9",
  "nr_inodes=10",
  "uid=0",
  "gid=5",
  "uid=70000",
  "tmpcopyup",
  "idmap",
  "ridmap",
  "rro",
  "rnosuid",
  "nosymfollow",
  "remount",
  "newinstance",
  "ptmxmode=0666",
  "max=10",
  "noexce",
  "defaults",
  "sync",
  "dirsync",
  "copy-symlink",
  "src-nofollow",
  "hidepid=2",
  "hidepid=9",
  "lazytime",
  "nofail",
  "huge=never",
  "huge=x",
  "inode64",
];
const SYSCTLS: readonly (readonly [string, string])[] = [
  ["net.ipv4.ip_forward", "1"],
  ["net.ipv4.ip_forward", "x"],
  ["net.core.somaxconn", "128"],
  ["net.core.somaxconn", "-1"],
  ["net.ipv4.no_such", "1"],
  ["kernel.shmmax", "1000000"],
  ["kernel.msgmax", "8192"],
  ["kernel.msgmax", "-5"],
  ["fs.mqueue.msg_max", "20"],
  ["fs.mqueue.msg_max", "x"],
  ["kernel.domainname", "lan"],
  ["net/ipv4/ip_forward", "0"],
  ["net.ipv4.ping_group_range", "0 1"],
  ["net.ipv4.ping_group_range", "5"],
  ["kernel.sem", "250 32000 32 128"],
];
const KINDS = ["network", "ipc", "uts", "pid", "cgroup"];
const NUMBERS = [
  -2, -1, 0, 1, 2, 10, 100, 500, 999, 1000, 1001, 4096, 10000, 50000, 100000, 262144, 1000000, 1000001, 8388608, 67108865, 67108864,
  1099511627776,
];

interface Base {
  readonly linux?: { readonly namespaces?: readonly { readonly type: string }[] };
  readonly mounts?: readonly unknown[];
}

/** By a topic: what is changed. */
const TOPICS: readonly ((draw: Draw, random: Random, base: Base) => Edits)[] = [
  (draw) => ({
    [`/process/capabilities/${draw(["bounding", "effective", "permitted", "inheritable", "ambient"])}`]: [draw(CAPS), draw(CAPS)],
  }),
  (draw) => ({ "/process/rlimits": [{ type: draw(LIMITS), soft: Math.max(0, draw(NUMBERS)), hard: Math.max(0, draw(NUMBERS)) }] }),
  (draw) => ({ "/process/oomScoreAdj": draw([-1001, -1000, -500, 0, 500, 1000, 1001]) }),
  (draw) => ({ "/process/noNewPrivileges": draw([true, false]), "/process/user/umask": draw([0, 18, 22, 63, 511, 512, 4095]) }),
  (draw) => ({ "/process/user/uid": draw([0, 1, 1000, 65534, 65536, 100000, 4294967294, 4294967295]) }),
  (draw) => ({
    "/process/user/gid": draw([0, 5, 65535, 70000, 4294967295]),
    "/process/user/additionalGids": draw([[], [0], [5, 5], [70000], [4294967295]]),
  }),
  (draw) => ({ "/process/env/-": draw(["A=1", "A", "=x", "", "PATH=", "PATH=/nowhere", "A=1=2", "a b=c", "HOME=/x", "é=1"]) }),
  (draw) => ({ "/process/cwd": draw(["/", "/tmp", "/none/such", "/etc/passwd", "/etc/passwd/x", "", "tmp", "/proc", "/root", "/.."]) }),
  (draw) => ({
    "/process/args": draw([
      ["/bin/true"],
      ["true"],
      ["/bin/nope"],
      ["nope"],
      ["/etc/passwd"],
      ["/bin"],
      [],
      [""],
      ["/bin/sh", "-c", "exit 3"],
      ["./bin/true"],
      ["bin/true"],
      ["../bin/true"],
    ]),
  }),
  (draw) => ({ "/hostname": draw(["web", "", "w".repeat(64), "w".repeat(65), "a b", "é"]) }),
  (draw) => ({ "/domainname": draw(["lan", "l".repeat(64), "l".repeat(65), ""]) }),
  (draw, _, base) => {
    const index = (base.linux?.namespaces ?? []).findIndex(({ type }) => type === draw(KINDS));
    return index === -1 ? {} : { [`/linux/namespaces/${index}`]: null };
  },
  (draw) => ({ "/linux/namespaces/-": { type: draw(["cgroup", "time", "pid", "net", "uts", "PID", "mount"]) } }),
  (draw, _, base) => {
    const namespaces = base.linux?.namespaces ?? [];
    const index = namespaces.findIndex(({ type }) => type === draw(KINDS));
    return index === -1
      ? {}
      : {
          [`/linux/namespaces/${index}/path`]: draw([
            "/proc/self/ns/net",
            "/proc/self/ns/ipc",
            "/proc/self/ns/uts",
            "/none",
            "x",
            "/etc/passwd",
            "",
          ]),
        };
  },
  (draw) => ({
    "/linux/namespaces/-": { type: "user" },
    "/linux/uidMappings": draw([
      MAP,
      MAP,
      [],
      [{ containerID: 0, hostID: 0, size: 1 }],
      [{ containerID: 0, hostID: 100000, size: 0 }],
      [...MAP, ...MAP],
      [{ containerID: 1, hostID: 100000, size: 10 }],
    ]),
    "/linux/gidMappings": draw([MAP, MAP, MAP, [], [{ containerID: 0, hostID: 200000, size: 1 }]]),
  }),
  (draw) => ({ "/linux/uidMappings": MAP, "/linux/gidMappings": draw([MAP, []]) }),
  ...Array.from({ length: 6 }, () => (draw: Draw, random: Random) => {
    const type = draw(TYPES);
    const options = Array.from({ length: random(4) }, () => draw(WORDS));
    const source =
      type === "bind" || options.includes("bind")
        ? draw(["rootfs/etc", "rootfs/etc/passwd", "data", "nothing", "", "/dev/null"])
        : draw([type, "none", ""]);
    return { "/mounts/-": { destination: draw(PLACES), type, source, ...(options.length > 0 && { options }) } };
  }),
  (_, random, base) => ({ [`/mounts/${random(base.mounts?.length ?? 1)}`]: null }),
  (draw, random, base) => ({ [`/mounts/${random(base.mounts?.length ?? 1)}/options`]: [draw(WORDS), draw(WORDS)] }),
  (draw, random, base) => ({ [`/mounts/${random(base.mounts?.length ?? 1)}/destination`]: draw(PLACES) }),
  (draw) => ({ "/root/readonly": draw([true, false]) }),
  (draw) => ({ "/root/path": draw(["rootfs", "./rootfs", "rootfs/", "rootfs/../rootfs", "none", "rootfs/etc/passwd", "rootfs/etc", ""]) }),
  (draw) => ({
    "/linux/devices": [
      {
        path: draw(["/dev/a", "/dev/null", "/a", "/dev/b/c", "dev/d", "/etc/passwd", "/etc", "/proc/x", "/dev/pts/7", ""]),
        type: draw(["c", "b", "u", "p", "x"]),
        major: draw([1, 0, 10, 4096, -1]),
        minor: draw([3, 0, 9999999, -1]),
        fileMode: draw([438, 666, 4096]),
        uid: draw([0, 1000, 4294967295]),
      },
    ],
  }),
  ...Array.from({ length: 3 }, () => (draw: Draw) => ({
    [`${R}/memory/${draw(["limit", "reservation", "swap", "kernel", "kernelTCP", "swappiness"])}`]: draw(NUMBERS),
  })),
  ...Array.from({ length: 3 }, () => (draw: Draw) => ({
    [`${R}/cpu/${draw(["shares", "quota", "period", "burst", "realtimeRuntime", "realtimePeriod", "idle"])}`]: draw(NUMBERS),
  })),
  (draw) => ({ [`${R}/cpu/${draw(["cpus", "mems"])}`]: draw(["0", "0-1", "0-63", "1-0", "", "x", "0,1", "9999"]) }),
  (draw) => ({ [`${R}/pids/limit`]: draw(NUMBERS) }),
  (draw) => ({ [`${R}/hugepageLimits`]: [{ pageSize: draw(["2MB", "1GB", "3MB", "2MiB", ""]), limit: draw([0, 2097152, 3, 4194304]) }] }),
  (draw) => ({ [`${R}/blockIO/${draw(["weight", "leafWeight"])}`]: draw([0, 9, 10, 500, 1000, 1001]) }),
  (draw) => ({ [`${R}/network/classID`]: draw([0, 1, 1048577, 4294967295]) }),
  (draw) => ({
    [`${R}/devices`]: [
      {
        allow: draw([true, false]),
        access: draw(["rwm", "r", "x", ""]),
        type: draw(["a", "c", "b", "u", ""]),
        major: draw([1, -1, -2]),
        minor: draw([3, -1]),
      },
    ],
  }),
  (draw) => ({
    [`${R}/unified`]: { [draw(["memory.max", "pids.max", "memory", "../x", "cpu.weight", "no.such"])]: draw(["max", "100", "x"]) },
  }),
  (draw) => Object.fromEntries([draw(SYSCTLS)].map(([key, value]) => ["/linux/sysctl", { [key]: value }])),
  (draw) => ({
    "/linux/seccomp": {
      defaultAction: draw(["SCMP_ACT_ALLOW", "SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO", "SCMP_ACT_KILL", "SCMP_ACT_X", "SCMP_ACT_LOG"]),
      syscalls: [
        {
          names: [draw(["mkdir", "execve", "exit_group", "no_such_call", "read", "setuid"])],
          action: draw(["SCMP_ACT_ERRNO", "SCMP_ACT_ALLOW", "SCMP_ACT_KILL_PROCESS", "SCMP_ACT_NOTIFY", "SCMP_ACT_TRAP"]),
          ...draw([
            {},
            {},
            { errnoRet: 38 },
            { errnoRet: 5000 },
            { args: [{ index: 6, value: 0, op: "SCMP_CMP_EQ" }] },
            { args: [{ index: 0, value: 1, op: "SCMP_CMP_EQ" }] },
          ]),
        },
      ],
      ...draw([
        {},
        { flags: ["SECCOMP_FILTER_FLAG_LOG"] },
        { flags: ["X"] },
        { architectures: ["SCMP_ARCH_X86"] },
        { listenerPath: "/none" },
      ]),
    },
  }),
  (draw) => ({ "/linux/rootfsPropagation": draw(["private", "rprivate", "slave", "shared", "unbindable", "x", ""]) }),
  (draw) => ({
    [`/linux/${draw(["maskedPaths", "readonlyPaths"])}`]: [
      draw(["/proc/kcore", "/none", "proc", "/", "/etc/passwd", "/proc", "/dev/null", "/tmp"]),
    ],
  }),
  (draw) => ({
    "/linux/namespaces/-": { type: "time" },
    "/linux/timeOffsets": {
      [draw(["monotonic", "boottime", "realtime"])]: {
        secs: draw([0, 100, -1, -99999999, 9223372036]),
        nanosecs: draw([0, 5, 999999999, 1000000000]),
      },
    },
  }),
  (draw) => ({ "/linux/timeOffsets": { monotonic: { secs: draw([0, 5]) } } }),
  (draw) => ({ "/linux/personality": { domain: draw(["LINUX", "LINUX32", "X"]), ...draw([{}, { flags: [] }, { flags: ["X"] }]) } }),
  (draw) => ({
    "/process/scheduler": {
      policy: draw(["SCHED_OTHER", "SCHED_BATCH", "SCHED_IDLE", "SCHED_FIFO", "X"]),
      ...draw([{}, { nice: 5 }, { nice: 20 }, { priority: 1 }, { priority: 100 }]),
    },
  }),
  (draw) => ({
    "/process/ioPriority": {
      class: draw(["IOPRIO_CLASS_BE", "IOPRIO_CLASS_RT", "IOPRIO_CLASS_IDLE", "X"]),
      priority: draw([0, 4, 7, 8, -1]),
    },
  }),
  (draw) => ({ "/process/execCPUAffinity": { initial: draw(["0", "0-1", "9", "x"]), final: draw(["0", "1", "", "77"]) } }),
  (draw) => ({
    "/linux/memoryPolicy": {
      mode: draw(["MPOL_BIND", "MPOL_DEFAULT", "MPOL_PREFERRED", "MPOL_INTERLEAVE", "X"]),
      nodes: draw(["0", "1", "", "x"]),
    },
  }),
  (draw) => ({
    [draw(["/process/selinuxLabel", "/process/apparmorProfile", "/linux/mountLabel"])]: draw([
      "x",
      "",
      "unconfined",
      "system_u:system_r:container_t:s0",
    ]),
  }),
  (draw) => ({ "/linux/intelRdt": draw([{}, { closID: "x" }, { closID: "..", schemata: ["L3:0=f"] }]) }),
  (draw) => ({ "/annotations": { [draw(["", "a", "com.example.x", "io.runt.default-device-rules"])]: draw(["x", "", "true"]) } }),
  (draw) => ({ "/ociVersion": draw(["1.0.0", "1.2.1", "1.3.0", "1.9.0", "2.0.0", "1", "1.0.2-dev"]) }),
  (draw) => ({ [draw(["/process/args", "/mounts", "/linux/namespaces", "/process/user", "/root"])]: draw([null, "x", 1, {}]) }),
  (draw) => ({ "/linux/netDevices": draw([{}, { lo: {} }, { none: {} }, { eth0: { name: "a/b" } }]) }),
];

/** One to three of them. */
export function drawEdits(base: Base, random: Random): Edits {
  const draw: Draw = (list) => list[random(list.length)] as (typeof list)[number];
  const edits: Record<string, unknown> = {};
  for (let count = random(3) + 1; count > 0; count--)
    for (const [pointer, value] of Object.entries(draw(TOPICS)(draw, random, base))) edits[pointer] = value;
  // What replaces a section comes after what changes something in it.
  const depth = (pointer: string): number => pointer.split("/").length;
  return Object.fromEntries(Object.entries(edits).sort(([a], [b]) => depth(b) - depth(a)));
}
