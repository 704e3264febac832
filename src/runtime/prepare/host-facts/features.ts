/** Host facts -> what works here: one row a feature, with the reason to care and the way to get it. Pure. */
import type { HostFacts } from "../../check/index.ts";

/** "unknown": nothing has been found out about it yet, neither good nor bad. */
export type Availability = "available" | "partly" | "missing" | "unknown";

export interface FeatureRow {
  readonly feature: string;
  readonly availability: Availability;
  /** What the kernel has, or which part of it is missing. */
  readonly detail: string;
  /** Fields of config.json or flags that need it. */
  readonly need: string;
  /** What to do when it is not there, or how to find out whether it is; "" when it is. */
  readonly fix: string;
}

interface Feature {
  readonly name: string;
  readonly need: string;
  readonly fix: string;
  /** How to find out, of a feature that can be unknown. */
  readonly ask?: string;
  look(facts: HostFacts): readonly [Availability, string];
}

const whole = (available: boolean, detail = ""): readonly [Availability, string] => [available ? "available" : "missing", detail];

/** All of the wanted, some of them or none. */
function parts(wanted: readonly string[], present: readonly string[]): readonly [Availability, string] {
  const missing = wanted.filter((name) => !present.includes(name));
  if (missing.length === 0) return ["available", wanted.join(" ")];
  return [missing.length === wanted.length ? "missing" : "partly", `without ${missing.join(" ")}`];
}

const systemCall = (name: string, need: string, since: string): Feature => ({
  name,
  need,
  fix: `Linux ${since} or newer`,
  look: ({ kernel }) => whole(kernel.systemCalls.includes(name), `Linux ${kernel.release}`),
});

const CONTROLLERS: Readonly<Record<1 | 2, readonly string[]>> = {
  1: ["blkio", "cpu", "cpuacct", "cpuset", "devices", "freezer", "hugetlb", "memory", "net_cls", "net_prio", "pids", "rdma"],
  2: ["cpu", "cpuset", "hugetlb", "io", "memory", "pids", "rdma"],
};

/** Microseconds; with short grace periods a move takes a tenth of this. */
const SLOW_MOVE = 1000;

const NEEDED_CAPABILITIES = [
  "CAP_CHOWN",
  "CAP_DAC_OVERRIDE",
  "CAP_FOWNER",
  "CAP_KILL",
  "CAP_MKNOD",
  "CAP_NET_ADMIN",
  "CAP_SETFCAP",
  "CAP_SETGID",
  "CAP_SETPCAP",
  "CAP_SETUID",
  "CAP_SYS_ADMIN",
  "CAP_SYS_CHROOT",
  "CAP_SYS_PTRACE",
  "CAP_SYS_RESOURCE",
];

const FEATURES: readonly Feature[] = [
  {
    name: "kernel",
    need: "everything",
    fix: "Linux 5.10 or newer",
    look: ({ kernel }) => whole(kernel.systemCalls.includes("close_range"), `Linux ${kernel.release} ${kernel.architecture}`),
  },
  systemCall("openat2", "paths in the root filesystem in one call (there is a way without)", "5.6"),
  systemCall("clone3:cgroup", "cgroup v2: init is born in its cgroup (there is a way without)", "5.7"),
  systemCall("mount_setattr", "recursive mount options (rro, rnosuid, ...), id-mapped mounts", "5.12"),
  systemCall("memfd_create:exec", "vm.memfd_noexec other than 0 (there is a way without)", "6.3"),
  {
    name: "cgroup",
    need: "linux.resources, linux.cgroupsPath, pause, events, update",
    fix: "mount -t cgroup2 cgroup2 /sys/fs/cgroup",
    look: ({ cgroup }) => whole(cgroup.hierarchies.length > 0, `v${cgroup.version} at ${cgroup.hierarchies[0]?.mountpoint ?? "no place"}`),
  },
  {
    name: "cgroup controllers",
    need: "the limit of the same name in linux.resources",
    fix: "enable them on the kernel's command line (cgroup_enable=memory, cgroup_no_v1=), or in the parent's cgroup.subtree_control",
    look: ({ cgroup }) =>
      parts(
        CONTROLLERS[cgroup.version === 1 ? 1 : 2],
        cgroup.hierarchies.flatMap(({ controllers }) => controllers),
      ),
  },
  {
    name: "cgroup rights",
    need: "limits for a caller who is not root",
    fix: "run as root, or let systemd delegate: Delegate=yes in user@.service, and --systemd-cgroup",
    look: ({ cgroup }) => {
      const refused = cgroup.hierarchies.filter(({ writable }) => !writable).map(({ mountpoint }) => mountpoint);
      if (refused.length === 0) return ["available", ""];
      return [refused.length === cgroup.hierarchies.length ? "missing" : "partly", `read-only: ${refused.join(" ")}`];
    },
  },
  {
    name: "cgroup moves",
    need: "what joins cgroups by cgroup.procs: systemd, crun and runc (runt's containers begin in theirs)",
    ask: "runt check --measure",
    fix: "mount -o remount,favordynmods /sys/fs/cgroup (v2), or echo 1 > /sys/kernel/rcu_expedited",
    look: ({ cgroupMoves: moves }) => {
      if (moves === undefined) return ["unknown", "not measured"];
      const { medianMicroseconds: median, fastestMicroseconds: fastest, hierarchies, rcuExpedited, favorDynamicMods } = moves;
      const milliseconds = (microseconds: number) => (microseconds / 1000).toFixed(2);
      const eased = [rcuExpedited && "rcu_expedited", favorDynamicMods && "favordynmods"].filter(Boolean).join(" and ");
      const each = `${milliseconds(median)} ms each, at best ${milliseconds(fastest)}`;
      const where = `${hierarchies === 1 ? "one hierarchy" : `${hierarchies} hierarchies`}${eased && `, with ${eased}`}`;
      return [median > SLOW_MOVE && eased === "" ? "partly" : "available", `${each}; ${where}`];
    },
  },
  {
    name: "swap accounting",
    need: "linux.resources.memory.swap",
    ask: "runt check where cgroups are mounted",
    fix: "swapaccount=1 on the kernel's command line",
    look: ({ cgroup: { files } }) => {
      if (files.length === 0) return ["unknown", "there is no cgroup to look into"];
      return whole(files.includes("memory.swap.max") || files.includes("memory.memsw.limit_in_bytes"));
    },
  },
  {
    name: "I/O weight",
    need: "linux.resources.blockIO.weight",
    fix: "echo bfq > /sys/block/DEVICE/queue/scheduler, or a kernel with CONFIG_BFQ_GROUP_IOSCHED",
    look: ({ ioSchedulers }) => whole(ioSchedulers.includes("bfq") || ioSchedulers.includes("cfq"), ioSchedulers.join(" ")),
  },
  {
    name: "huge pages",
    need: "linux.resources.hugepageLimits",
    fix: "a kernel with CONFIG_HUGETLBFS",
    look: ({ memory: { hugepageSizes } }) => whole(hugepageSizes.length > 0, hugepageSizes.join(" ")),
  },
  {
    name: "systemd",
    need: "--systemd-cgroup",
    fix: "boot with systemd, or use cgroupfs (the default)",
    look: ({ systemd: { system, user } }) =>
      whole(
        system !== undefined || user !== undefined,
        [system && `system ${system.version}`, user && `user ${user.version}`].filter(Boolean).join(", "),
      ),
  },
  {
    name: "namespaces",
    need: "linux.namespaces",
    fix: "a kernel with CONFIG_NAMESPACES and its parts",
    look: ({ namespaces }) => parts(["cgroup", "ipc", "mount", "network", "pid", "time", "user", "uts"], namespaces),
  },
  {
    name: "user namespaces",
    need: "linux.uidMappings, rootless containers",
    fix: "sysctl user.max_user_namespaces=15000",
    look: ({ userNamespaces, namespaces }) => whole(namespaces.includes("user") && userNamespaces > 0, `at most ${userNamespaces}`),
  },
  {
    name: "id map programs",
    need: "more than one id in a rootless container",
    fix: "install newuidmap and newgidmap (package uidmap or shadow-utils), with rows in /etc/subuid and /etc/subgid",
    look: ({ caller }) => whole(caller.newuidmap !== undefined && caller.newgidmap !== undefined, caller.newuidmap ?? ""),
  },
  {
    name: "id-mapped mounts",
    need: "mounts with idmap, ridmap or uidMappings",
    fix: "Linux 5.12 or newer, 6.3 for tmpfs",
    look: ({ kernel: { idmappedFilesystems } }) => whole(idmappedFilesystems.length > 0, idmappedFilesystems.join(" ")),
  },
  {
    name: "capabilities",
    need: "what a privileged runtime does for the container",
    fix: "run as root, outside of a container that has dropped them; or rootless, in a user namespace",
    look: ({ caller: { effective } }) => parts(NEEDED_CAPABILITIES, effective),
  },
  {
    name: "seccomp",
    need: "linux.seccomp",
    fix: "a kernel with CONFIG_SECCOMP_FILTER",
    look: ({ seccomp: { actions } }) =>
      whole(actions.length > 0, actions.map((action) => action.slice("SCMP_ACT_".length).toLowerCase()).join(" ")),
  },
  {
    name: "seccomp listener",
    need: "SCMP_ACT_NOTIFY, linux.seccomp.listenerPath",
    fix: "Linux 5.0 or newer",
    look: ({ seccomp: { actions } }) => whole(actions.includes("SCMP_ACT_NOTIFY")),
  },
  {
    name: "no filter above",
    need: "every system call of the plan",
    fix: "run outside of a sandbox that filters, or let its filter allow what runt plan --explain shows",
    look: ({ caller: { filtered } }) => whole(!filtered, filtered ? "runt is under a system call filter itself" : ""),
  },
  {
    name: "AppArmor",
    need: "process.apparmorProfile",
    fix: "apparmor=1 security=apparmor on the kernel's command line",
    look: ({ security }) => whole(security.apparmor),
  },
  {
    name: "SELinux",
    need: "process.selinuxLabel, linux.mountLabel",
    fix: "selinux=1 security=selinux on the kernel's command line, and a policy",
    look: ({ security }) => whole(security.selinux),
  },
  {
    name: "filesystems",
    need: "mounts of these types; overlay for what engines prepare",
    fix: "load the module: modprobe overlay",
    look: ({ filesystems, cgroup }) =>
      parts(["proc", "sysfs", "tmpfs", "devpts", "mqueue", cgroup.version === 1 ? "cgroup" : "cgroup2", "overlay"], filesystems),
  },
  {
    name: "Intel RDT",
    need: "linux.intelRdt",
    fix: "mount -t resctrl resctrl /sys/fs/resctrl, on a processor that has it",
    look: ({ resctrl }) => whole(resctrl.mount !== undefined, resctrl.mount ?? ""),
  },
  {
    name: "RDMA",
    need: "linux.resources.rdma",
    fix: "a device of this kind, and its driver",
    look: ({ rdmaDevices }) => whole(rdmaDevices.length > 0, rdmaDevices.join(" ")),
  },
  {
    name: "CRIU",
    need: "checkpoint and restore by an engine",
    fix: "install criu",
    look: ({ criu }) => whole(criu !== undefined, criu ?? ""),
  },
  {
    name: "KVM",
    need: "containers in virtual machines (--isolation vm) without software emulation",
    ask: "start a container with --isolation vm, and look again",
    fix: "a host on which KVM boots guests",
    look: ({ machines }) => {
      if (machines === undefined) return ["unknown", "not known before the first machine"];
      const { accelerator, bootMilliseconds } = machines;
      const boot = `the last machine booted in ${(bootMilliseconds / 1000).toFixed(1)} s`;
      return accelerator === "kvm" ? ["available", boot] : ["partly", `software emulation; ${boot}`];
    },
  },
];

export function featureRows(facts: HostFacts): FeatureRow[] {
  return FEATURES.map(({ name, need, fix, ask = "", look }) => {
    const [availability, detail] = look(facts);
    const todo = { available: "", partly: fix, missing: fix, unknown: ask }[availability];
    return { feature: name, availability, detail, need, fix: todo };
  });
}
