/**
 * Valid configurations made of random parts, the same ones for the same seed: each is created and runs /bin/true. They need root, a root
 * file system of their own (mount targets are made in it), and change nothing of the host but the container's cgroups.
 */
import { type Config, sampleConfig } from "./config.ts";
import { random } from "./random.ts";

export interface Places {
  readonly rootfs: string;
  /** A directory and a file of the host, to bind. */
  readonly directory: string;
  readonly file: string;
  readonly cgroupsPath: string;
}

interface Dice {
  /** True once in n times. */
  once(n: number): boolean;
  below(n: number): number;
  pick<T>(from: readonly T[]): T;
  /** Each of them with a probability of one half. */
  some<T>(from: readonly T[]): T[];
}

type Part = (config: Config, dice: Dice, places: Places) => void;

function diceOf(seed: number): Dice {
  const below = random(seed);
  for (let warm = 0; warm < 4; warm++) below(2);
  return {
    below,
    once: (n) => below(n) === 0,
    pick: (from) => from[below(from.length)]!,
    some: (from) => from.filter(() => below(2) === 0),
  };
}

const CAPABILITIES = [
  "CAP_CHOWN",
  "CAP_KILL",
  "CAP_SETUID",
  "CAP_SETGID",
  "CAP_NET_BIND_SERVICE",
  "CAP_AUDIT_WRITE",
  "CAP_MKNOD",
  "CAP_NET_RAW",
];
const has = (config: Config, type: string): boolean => config.linux.namespaces.some((namespace) => namespace.type === type);

const namespaces: Part = (config, { some }) => {
  const types = ["pid", "mount", ...some(["uts", "ipc", "network", "cgroup"])];
  config.linux.namespaces = types.map((type) => ({ type }));
  if (!has(config, "uts")) delete config.hostname;
};

const users: Part = (config, { once }) => {
  if (!once(4)) return;
  config.linux.namespaces.push({ type: "user" });
  config.linux.uidMappings = [{ containerID: 0, hostID: 0, size: 65_536 }];
  config.linux.gidMappings = [{ containerID: 0, hostID: 0, size: 100_000 }];
};

const time: Part = (config, { once, below }) => {
  if (!once(5)) return;
  config.linux.namespaces.push({ type: "time" });
  config.linux["timeOffsets"] = {
    monotonic: { secs: 1 + below(1000), nanosecs: below(1000) },
    boottime: { secs: below(1000), nanosecs: 0 },
  };
};

const names: Part = (config, { once, below }) => {
  if (!has(config, "uts")) return;
  if (once(2)) config.hostname = `host-${below(1000)}`;
  if (once(3)) config["domainname"] = `domain-${below(1000)}`;
};

const standardMounts: Part = (config, { once }) => {
  // Without namespaces of its own the container may not have these file systems (a user namespace), or they are those of the host.
  const kept = (type: string | undefined): boolean => {
    if (type === "sysfs") return has(config, "network") && once(2);
    if (type === "mqueue") return has(config, "ipc") && once(2);
    return true;
  };
  config.mounts = config.mounts.filter(({ type }) => type !== "cgroup" && kept(type));
};

const moreMounts: Part = (config, { below, once, pick, some }, { directory, file }) => {
  for (let count = below(4); count > 0; count--) {
    const source = pick([directory, file]);
    // Containers share the root file system. So each place is used for directories only, or for files only.
    const destination = `/mnt/${pick(["a", "b", "deep/er", "c"])}${source === file ? "-file" : ""}${count}`;
    const restrictions = some(["nosuid", "nodev", "noexec", "relatime"]);
    if (source === directory && once(2)) {
      const data = some([`size=${64 + below(64)}k`, "mode=1777", "nr_inodes=100"]);
      config.mounts.push({ destination, type: "tmpfs", source: "tmpfs", options: [...restrictions, ...data, ...(once(3) ? ["ro"] : [])] });
    } else {
      const propagation = some(["rprivate"]);
      config.mounts.push({
        destination,
        type: "bind",
        source,
        options: [pick(["bind", "rbind"]), pick(["ro", "rw"]), ...restrictions, ...propagation],
      });
    }
  }
};

const paths: Part = (config, { some, once }) => {
  config.linux["maskedPaths"] = some(["/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/acpi", "/no/such", "/etc/passwd", "/home"]);
  config.linux["readonlyPaths"] = some(["/proc/sys", "/proc/bus", "/proc/irq", "/no/such", "/etc"]);
  config.root.readonly = once(2);
  if (once(3)) config.linux["rootfsPropagation"] = "private";
};

const devices: Part = (config, { below, once }) => {
  if (!once(2)) return;
  config.linux["devices"] = [
    { path: `/dev/my-null-${below(9)}`, type: "c", major: 1, minor: 3, fileMode: 0o600 + below(0o100), uid: 0, gid: below(10) },
    ...(once(2) ? [{ path: "/dev/pipes/one", type: "p", fileMode: 0o644 }] : []),
  ];
};

const rights: Part = (config, { once, some, pick, below }) => {
  const permitted = some(CAPABILITIES);
  const { process } = config;
  process.capabilities = { bounding: CAPABILITIES, permitted, effective: permitted, inheritable: some(permitted) };
  process.capabilities["ambient"] = some(process.capabilities["inheritable"]!);
  if (once(6)) delete (process as { capabilities?: unknown }).capabilities;
  process["noNewPrivileges"] = once(2);
  process.user = { uid: pick([0, 1000, 1234]), gid: pick([0, 1000]), ...(once(2) ? { umask: pick([0o22, 0o77, 0]) } : {}) };
  if (once(3)) process.user.additionalGids = [5, 10 + below(20)];
};

const settings: Part = (config, { below, once, pick, some }) => {
  const { process } = config;
  process.args = ["/bin/true", ...some(["one", "two words", "ü", '"quoted"'])];
  process.env = ["PATH=/bin:/usr/bin", ...some(["HOME=/home", "A=1=2", "EMPTY="])];
  process.cwd = pick(["/", "/tmp", "/made/here"]);
  process.rlimits = some([
    { type: "RLIMIT_NOFILE", soft: 100 + below(900), hard: 1024 },
    { type: "RLIMIT_CORE", soft: 0, hard: 0 },
    { type: "RLIMIT_NPROC", soft: 2000, hard: 3000 },
  ]);
  if (once(3)) process["oomScoreAdj"] = below(1000);
  if (once(4)) config.linux["personality"] = { domain: pick(["LINUX", "LINUX32"]) };
  if (once(4)) process["ioPriority"] = { class: "IOPRIO_CLASS_BE", priority: below(8) };
  if (once(4)) process["scheduler"] = { policy: pick(["SCHED_OTHER", "SCHED_BATCH"]), nice: below(10) };
};

const resources: Part = (config, { below, once }) => {
  const { resources } = config.linux;
  if (once(2)) resources["memory"] = { limit: (32 + below(32)) << 20 };
  if (once(2)) resources["pids"] = { limit: 10 + below(100) };
  if (once(2)) resources["cpu"] = { shares: 100 + below(1000), ...(once(2) ? { quota: 50_000, period: 100_000 } : {}) };
};

const sysctls: Part = (config, { below, once }) => {
  const sysctl: Record<string, string> = {};
  if (has(config, "network") && once(2)) sysctl["net.ipv4.ip_unprivileged_port_start"] = String(below(1024));
  if (has(config, "ipc") && once(2)) sysctl["kernel.msgmax"] = String(8192 + below(100));
  if (Object.keys(sysctl).length > 0) config.linux.sysctl = sysctl;
};

const seccomp: Part = (config, { once, pick, some }) => {
  if (!once(3)) return;
  const names = ["keyctl", "add_key", ...some(["ptrace", "swapon", "kexec_load"])];
  config.linux["seccomp"] = {
    defaultAction: "SCMP_ACT_ALLOW",
    architectures: ["SCMP_ARCH_X86_64"],
    syscalls: [{ names, action: "SCMP_ACT_ERRNO", errnoRet: pick([1, 38]) }],
  };
};

const hooks: Part = (config, { once, pick }) => {
  if (!once(3)) return;
  const kind = pick(["createRuntime", "createContainer", "startContainer", "prestart", "poststart"]);
  config["hooks"] = { [kind]: [{ path: "/bin/true", args: ["true", kind], env: ["A=b"] }] };
};

const PARTS = [
  namespaces,
  users,
  time,
  names,
  standardMounts,
  moreMounts,
  paths,
  devices,
  rights,
  settings,
  resources,
  sysctls,
  seccomp,
  hooks,
];

/** The configuration of this seed. */
export function randomConfig(seed: number, places: Places): Config {
  const dice = diceOf(seed);
  const config = sampleConfig("hello");
  config.root.path = places.rootfs;
  config.linux.cgroupsPath = places.cgroupsPath;
  for (const part of PARTS) part(config, dice, places);
  return config;
}
