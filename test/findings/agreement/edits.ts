/** More edits than those of the matrix: kinds on which validate and create have disagreed. None reaches out of the bundle. */
import type { Edits } from "../../../src/runtime/check/catalogue/index.ts";
import { applyEdits } from "../../support/example-host.ts";
import { drawEdits } from "../matrix-edits.ts";
import type { Random } from "../mutate.ts";
import type { Configuration } from "./bases.ts";

type Draw = <T>(list: readonly T[]) => T;
const NAME = "n".repeat(255);
const LONG = "n".repeat(256);
const PLACES = [
  ...[
    "/dev/null",
    "/dev/zero",
    "/dev/fd",
    "/dev/stdin",
    "/dev/ptmx",
    "/dev/console",
    "/dev/shm/x",
    "/dev/pts/x",
    "/dev/pts/ptmx",
    "/dev/mqueue/x",
  ],
  ...["/sys/none", "/sys/kernel/mm", "/sys/kernel/mm/x", "/sys/fs/cgroup/x", "/sys/fs/cgroup/memory", "/proc/cpuinfo", "/proc/none"],
  ...[`/${LONG}`, `/${NAME}`, `/${"é".repeat(128)}`, "/etc/hosts", "/etc/passwd/x", "/loop", "/away", "/magic/x", "/mnt/x/y", "/opt"],
];
const DATA_WORDS = [
  ...[
    "mode=755",
    "size=65536k",
    "uid=0",
    "gid=5",
    "newinstance",
    "ptmxmode=0666",
    "nr_inodes=1k",
    "data=ordered",
    "lowerdir=/x",
    "hidepid=2",
  ],
  ...["foo", "foo=bar", "noexce", "max=1", "huge=x", "index=on", "errors=continue", "acl", "user_xattr", "discard", "subset=pid"],
];
const DIRECTORIES = [
  ...[
    "/proc/self/cwd",
    "/proc/self/root",
    "/proc/self/fd/0",
    "/proc/self/ns",
    "/proc/self",
    "/proc/1",
    "/proc/none",
    "/proc/sys/net",
    "/proc/cpuinfo",
  ],
  ...[
    "/sys/none",
    "/sys/class",
    "/sys/class/mem",
    "/dev/pts",
    "/dev/pts/x",
    "/dev/mqueue/x",
    "/dev/null",
    "/dev/fd",
    "/magic",
    "/loop",
    "/away",
    `/${LONG}`,
  ],
  ...["/opt/a/b", "/mnt", "/dev/shm/x"],
];
const NUMBERS = [
  "-1",
  "0",
  "1",
  "2",
  "3",
  "127",
  "128",
  "255",
  "256",
  "32768",
  "32769",
  "65535",
  "65536",
  "65537",
  "16777217",
  "2147483648",
];
const TEXTS = ["", " ", "x", "1 2", "1 x", "0x10", "010", "08", "+1", "1.5", "1\n", "2 1"];
const KEYS = [
  ...[
    "fs.mqueue.msg_max",
    "fs.mqueue.msgsize_max",
    "fs.mqueue.msg_default",
    "fs.mqueue.queues_max",
    "kernel.shmmni",
    "kernel.msgmni",
    "kernel.sem",
  ],
  ...[
    "kernel.shm_rmid_forced",
    "kernel.shmall",
    "net.core.somaxconn",
    "net.ipv4.ip_default_ttl",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_rmem",
  ],
  ...[
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.conf.all.rp_filter",
  ],
  ...[
    "net.ipv4.tcp_keepalive_probes",
    "net.unix.max_dgram_qlen",
    "net.ipv6.conf.default.disable_ipv6",
    "net.core.rmem_max",
    "net.ipv4.conf.eth0.rp_filter",
  ],
  ...[
    "net.ipv4.conf.all.mc_forwarding",
    "net.ipv4.conf",
    "net/ipv4/ip_forward",
    "net.ipv4.tcp_mem",
    "kernel.domainname",
    "kernel.hostname",
    "vm.swappiness",
  ],
];
const ARCHITECTURES = [
  "X86_64",
  "X86",
  "X32",
  "ARM",
  "AARCH64",
  "MIPS",
  "MIPSEL64",
  "PPC64",
  "PPC64LE",
  "S390X",
  "RISCV64",
  "PARISC",
  "SHEB",
  "AMD64",
];
/** @ is the bundle. */
const LAYERS = [
  ...[
    "lowerdir=@/data",
    "lowerdir=@/data:@/more",
    "lowerdir=@/none:@/data",
    "lowerdir=@/file",
    "lowerdir+=@/data",
    "upperdir=@/upper",
    "upperdir=@/none",
  ],
  ...["workdir=@/work", "workdir=@/upper", "workdir=@/none", "metacopy=on", "redirect_dir=x", "volatile", "userxattr"],
];
const R = "/linux/resources";

const device = (draw: Draw) => ({
  path: draw([
    "/dev",
    "/dev/pts",
    "/dev/fd",
    "/dev/stdin",
    "/dev/ptmx",
    "/dev/null",
    "/dev/null/x",
    "/dev/a/b",
    "/dev/a",
    "/loop",
    "/opt",
    "/opt/n",
    "/",
    ...PLACES,
  ]),
  type: draw(["c", "c", "b", "u", "p"]),
  major: draw([1, 5, 10]),
  minor: draw([3, 2, 0]),
});

function bindMount(draw: Draw, random: Random) {
  const options = [draw(["bind", "rbind"]), ...Array.from({ length: random(3) }, () => draw([...DATA_WORDS, "ro", "nosuid", "rprivate"]))];
  return {
    destination: draw([...PLACES, "/mnt", "/opt", "/run"]),
    type: draw(["bind", "bind", "none", ""]),
    source: draw(["data", "file", "/dev/full", "/dev/null", "none"]),
    options,
  };
}

const TOPICS: readonly ((draw: Draw, random: Random, base: Configuration) => Edits)[] = [
  (draw, random) => ({ "/mounts/-": bindMount(draw, random) }),
  (draw, random) => ({ "/mounts/-": bindMount(draw, random) }),
  (draw) => ({
    "/mounts/-": { destination: draw(PLACES), type: draw(["tmpfs", "mqueue", "ramfs"]), source: "none", options: draw([[], ["ro"]]) },
  }),
  (draw, random) => ({
    "/mounts/-": {
      destination: "/mnt",
      type: "overlay",
      source: "overlay",
      options: Array.from({ length: random(4) }, () => draw(LAYERS)),
    },
  }),
  (draw, random, base) => {
    const index = random(base.mounts?.length ?? 1);
    return { [`/mounts/${index}/options`]: [...(base.mounts?.[index]?.options ?? []), draw(DATA_WORDS)] };
  },
  (draw) => ({ "/process/cwd": draw(DIRECTORIES) }),
  (draw) => ({ "/linux/devices": [device(draw)] }),
  (draw) => ({ "/linux/devices": [device(draw), device(draw)] }),
  (draw) => ({ "/linux/sysctl": { [draw(KEYS)]: draw(NUMBERS) } }),
  (draw) => ({ "/linux/sysctl": { [draw(KEYS)]: draw([...NUMBERS, ...TEXTS]), [draw(KEYS)]: draw(TEXTS) } }),
  (draw) => ({
    "/linux/seccomp": {
      defaultAction: "SCMP_ACT_ALLOW",
      architectures: [draw(ARCHITECTURES), draw(ARCHITECTURES)].map((name) => `SCMP_ARCH_${name}`),
      syscalls: [{ names: ["mkdir"], action: "SCMP_ACT_ERRNO" }],
    },
  }),
  (draw) => ({ "/process/user/additionalGids": Array.from({ length: draw([1, 100, 65_536, 65_537]) }, (_, id) => id) }),
  (draw) => ({ [`${R}/memory/useHierarchy`]: draw([true, false]) }),
  (draw) => ({ [`${R}/memory/disableOOMKiller`]: draw([true, false]), [`${R}/memory/checkBeforeUpdate`]: draw([true, false]) }),
  (draw) => ({
    [`/linux/${draw(["maskedPaths", "readonlyPaths"])}`]: [
      draw([...DIRECTORIES, ...PLACES]),
      draw(["/proc/kcore", "/sys/firmware", "/proc/self/fd/0"]),
    ],
  }),
  (draw) => ({
    "/process/args": draw([["/loop"], ["/magic/bin/true"], ["/away"], ["/proc/self/exe"], [`/${LONG}`], ["/dev/null"], ["true", "\u00e9"]]),
  }),
  (draw) => ({
    "/hostname": draw([`${"h".repeat(63)}.`, "-", "a/b", "h\n"]),
    "/linux/rootfsPropagation": draw(["rshared", "runbindable", "rslave"]),
  }),
];

/** Take a field away, double an entry of a list, or put one elsewhere in it. */
function structural(draw: Draw, random: Random, base: Configuration): Edits {
  const list = draw(["/mounts", "/linux/namespaces", "/linux/devices", "/process/rlimits", "/linux/maskedPaths", "/process/env"] as const);
  const holder = list
    .split("/")
    .slice(1)
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], base);
  if (!Array.isArray(holder) || holder.length === 0)
    return { [draw(["/hostname", "/process/capabilities", "/process/rlimits", "/linux/resources", "/process/env"])]: null };
  const at = random(holder.length);
  const moved = [...holder];
  const [entry] = moved.splice(at, 1);
  return { [list]: draw([moved, [...holder, entry], [entry, ...moved], [...moved, entry]]) };
}

/** One to three of them. */
export function editOf(base: Configuration, random: Random): Configuration {
  const draw: Draw = (list) => list[random(list.length)] as (typeof list)[number];
  const config = structuredClone(base);
  for (let count = random(4) === 0 ? 2 + random(2) : 1; count > 0; count--) {
    const kind = random(8);
    if (kind < 3) applyEdits(config, drawEdits(config, random));
    else applyEdits(config, kind === 3 ? structural(draw, random, config) : draw(TOPICS)(draw, random, config));
    // Some edits put something else in the place of a section: nothing of it can be changed any more.
    if (!isWhole(config)) break;
  }
  return config;
}

const isSection = (value: unknown): boolean => typeof value === "object" && value !== null;

function isWhole({ linux, process, mounts, root }: Configuration): boolean {
  const lists = [mounts ?? [], linux?.namespaces ?? []];
  return [linux, process, process?.["user"] ?? {}, root].every(isSection) && lists.every(Array.isArray);
}
