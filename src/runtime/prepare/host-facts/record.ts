/** What this host offers, as a document. Reads, and asks systemd; writes nothing. */
import { CAPABILITIES, NAMESPACE_FILES } from "../../../shared/linux/index.ts";
import { readHierarchies } from "../../cgroup/index.ts";
import { HOST_FACTS_VERSION, type HostFacts } from "../../check/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { KNOWN } from "../../isolation/index.ts";
import { findResctrl } from "../../resctrl/index.ts";
import { NAMESPACE_TYPES } from "../../spec/index.ts";
import { hasUserManager, LIVE } from "../host-probe.ts";
import { findIdProgram } from "../lsm.ts";
import {
  capabilityNames,
  hugepageSize,
  mebibytes,
  parseFields,
  parseFilesystems,
  parseIdMap,
  parseLimits,
  parseMask,
  seccompActions,
} from "./parse.ts";
import { idmappedFilesystemsOf, seccompFlagsOf, systemCallsOf } from "./versions.ts";

/** @param stateRoot the directory of the states when --root does not say */
export function recordHostFacts(stateRoot: string | undefined): HostFacts {
  const release = host.kernelRelease();
  return {
    hostFacts: HOST_FACTS_VERSION,
    recordedBy: host.build.version,
    kernel: {
      release,
      architecture: host.architecture,
      systemCalls: systemCallsOf(release),
      idmappedFilesystems: idmappedFilesystemsOf(release),
      memfdNoexec: readNumber("/proc/sys/vm/memfd_noexec"),
    },
    caller: recordCaller(stateRoot),
    cgroup: recordCgroup(),
    systemd: recordSystemd(),
    namespaces: recordNamespaces(),
    userNamespaces: readNumber("/proc/sys/user/max_user_namespaces"),
    capabilities: CAPABILITIES.slice(0, readNumber("/proc/sys/kernel/cap_last_cap") + 1),
    seccomp: { actions: seccompActions(readWords("/proc/sys/kernel/seccomp/actions_avail")), flags: seccompFlagsOf(release) },
    security: {
      modules: (readText("/sys/kernel/security/lsm") ?? "").split(",").filter(Boolean),
      apparmor: LIVE.apparmor(),
      selinux: LIVE.selinux(),
    },
    filesystems: parseFilesystems(readText("/proc/filesystems") ?? ""),
    sysctls: recordSysctls(),
    cpus: recordCpus("0"),
    memory: recordMemory(),
    limits: {
      nrOpen: readNumber("/proc/sys/fs/nr_open"),
      pidMax: readNumber("/proc/sys/kernel/pid_max"),
      threadsMax: readNumber("/proc/sys/kernel/threads-max"),
      mountMax: readNumber("/proc/sys/fs/mount-max"),
    },
    ioSchedulers: recordIoSchedulers(),
    resctrl: recordResctrl(),
    rdmaDevices: names("/sys/class/infiniband"),
    netDevices: names("/sys/class/net").filter((name) => name !== "bonding_masters"),
    ...recordCriu(),
    ...recordMachines(),
  };
}

export function recordCaller(stateRoot: string | undefined): HostFacts["caller"] {
  const status = parseFields(readText("/proc/self/status") ?? "");
  const uidMap = parseIdMap(readText("/proc/self/uid_map") ?? "");
  const [first] = uidMap;
  const [newuidmap, newgidmap] = [findIdProgram("newuidmap"), findIdProgram("newgidmap")];
  return {
    ...LIVE.caller(),
    // The initial one maps everything to itself (user_namespaces(7)).
    inUserNamespace: !(uidMap.length === 1 && first?.inside === 0 && first.outside === 0 && first.size === 0xffff_ffff),
    uidMap,
    gidMap: parseIdMap(readText("/proc/self/gid_map") ?? ""),
    setgroups: readText("/proc/self/setgroups") !== "deny",
    ...(newuidmap && { newuidmap }),
    ...(newgidmap && { newgidmap }),
    ...(stateRoot !== undefined && { stateRoot }),
    effective: capabilityNames(parseMask(status.get("CapEff"))),
    bounding: capabilityNames(parseMask(status.get("CapBnd"))),
    filtered: (status.get("Seccomp") ?? "0") !== "0",
    rlimits: parseLimits(readText("/proc/self/limits") ?? ""),
  };
}

export function recordNamespaces(): string[] {
  const files = new Set(names("/proc/self/ns"));
  return NAMESPACE_TYPES.filter((type) => files.has(NAMESPACE_FILES[type]));
}

/** Of the IPC and UTS namespaces (namespaces(7)). */
const KERNEL_SYSCTLS = /^(msg|sem|shm|auto_msgmni$|domainname$|hostname$)/;

function recordSysctls(): string[] {
  return [
    ...names("/proc/sys/fs/mqueue").map((name) => `fs.mqueue.${name}`),
    ...names("/proc/sys/kernel")
      .filter((name) => KERNEL_SYSCTLS.test(name))
      .map((name) => `kernel.${name}`),
    ...names("/proc/sys/net").map((name) => `net.${name}`),
  ];
}

/** @param fallback for lists of what is online where the kernel does not show them */
export function recordCpus(fallback: string): HostFacts["cpus"] {
  const [possible, possibleNodes] = [readText("/sys/devices/system/cpu/possible"), readText("/sys/devices/system/node/possible")];
  return {
    online: readText("/sys/devices/system/cpu/online") ?? fallback,
    memoryNodes: readText("/sys/devices/system/node/online") ?? fallback,
    ...(possible && { possible }),
    ...(possibleNodes && { possibleNodes }),
  };
}

export function recordMemory(): HostFacts["memory"] {
  const fields = parseFields(readText("/proc/meminfo") ?? "");
  return {
    total: mebibytes(fields.get("MemTotal")),
    swap: mebibytes(fields.get("SwapTotal")),
    hugepageSizes: names("/sys/kernel/mm/hugepages").map(hugepageSize),
  };
}

function recordIoSchedulers(): string[] {
  const all = names("/sys/block").flatMap((device) => readWords(`/sys/block/${device}/queue/scheduler`));
  return [...new Set(all.map((word) => word.replace(/^\[|\]$/g, "")))].sort();
}

export function recordResctrl(): HostFacts["resctrl"] {
  const mount = findResctrl(readText("/proc/self/mountinfo") ?? "");
  if (mount === undefined) return { groups: [], monitors: [] };
  const groups = names(mount).filter((name) => name !== "info" && !name.startsWith("mon_") && host.stat(`${mount}/${name}/schemata`));
  const monitors = ["", ...groups.map((group) => `${group}/`)].flatMap((prefix) =>
    names(`${mount}/${prefix}mon_groups`).map((name) => `${prefix}mon_groups/${name}`),
  );
  return { mount, groups, monitors };
}

const PROGRAM_DIRECTORIES = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

function recordCriu(): Pick<HostFacts, "criu"> {
  const criu = PROGRAM_DIRECTORIES.map((directory) => `${directory}/criu`).find((path) => host.stat(path) !== undefined);
  return criu === undefined ? {} : { criu };
}

/**
 * What is known of virtual machines on this host: of the last one that it has booted
 * (src/runtime/isolation/boot/accelerator.ts writes it).
 */
function recordMachines(): Pick<HostFacts, "machines"> {
  try {
    const { accelerator, bootMilliseconds } = JSON.parse(readText(`${KNOWN.directory}/${KNOWN.file}`) ?? "{}") as Record<string, unknown>;
    if ((accelerator !== "kvm" && accelerator !== "tcg") || !Number.isSafeInteger(bootMilliseconds)) return {};
    return { machines: { accelerator, bootMilliseconds: bootMilliseconds as number } };
  } catch (error) {
    // Others may have written it.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

type Manager = HostFacts["systemd"]["system"];

/** The systemd part of the host facts: who answers. */
function recordSystemd(): HostFacts["systemd"] {
  const system = ask(false);
  const user = hasUserManager() ? ask(true) : undefined;
  return { ...(system && { system }), ...(user && { user }) };
}

/** undefined: there is none, or it does not answer. */
function ask(user: boolean): Manager {
  try {
    const found = LIVE.systemd(user);
    if (found.user !== user) return undefined;
    const { socket, direct, version, root } = found;
    return { socket, direct, version: version(), root };
  } catch (error) {
    if (error instanceof RuntError) return undefined;
    throw error;
  }
}

/** Cgroups looked into for each hierarchy: on v2 not every one has the files of every controller. */
const LOOKED_INTO = 8;

/** The cgroup part of the host facts. */
export function recordCgroup(): HostFacts["cgroup"] {
  const { version, hierarchies, unified } = readHierarchies();
  const files = new Set(hierarchies.flatMap(({ mountpoint }) => filesBelow(mountpoint)));
  return {
    version,
    hierarchies: hierarchies.map(({ mountpoint, controllers }) => ({
      mountpoint,
      controllers: [...controllers],
      writable: host.access(mountpoint, host.ACCESS.WRITE),
    })),
    ...(unified !== undefined && { unified }),
    files: [...files].sort(),
  };
}

/** The root cgroup has fewer files than the cgroups below it. One that is removed meanwhile does not count as looked into. */
function filesBelow(mountpoint: string): string[] {
  const found: string[][] = [];
  for (const child of names(mountpoint)) {
    if (found.length === LOOKED_INTO) break;
    const path = `${mountpoint}/${child}`;
    const files = names(path).filter((name) => /^[a-z0-9_]+\.[\w.]+$/i.test(name) && isFile(`${path}/${name}`));
    if (files.length > 0) found.push(files);
  }
  return found.flat();
}

function isFile(path: string): boolean {
  return (host.lstat(path)?.mode ?? 0) >> 12 === 8;
}

/*
 * Reads small files of /proc and /sys. A missing file is no error.
 */

const SILENT = ["ENOENT", "ENOTDIR", "EACCES", "EPERM", "EINVAL", "EIO", "EOPNOTSUPP", "ENODEV"] as const;

/** Trimmed; undefined when it is not there or may not be read. */
export function readText(path: string): string | undefined {
  return attempt(() => host.readFile(path, undefined, true).trim());
}

/** 0 when there is none. */
export function readNumber(path: string): number {
  const value = Number(readText(path) ?? 0);
  return Number.isSafeInteger(value) && value >= 0 ? Math.min(value, 0xffff_ffff) : 0;
}

/** Words between blanks. */
export function readWords(path: string): string[] {
  return (readText(path) ?? "").split(/\s+/).filter(Boolean);
}

/** Sorted; empty when it is not a directory. */
export function names(path: string): string[] {
  return attempt(() => host.readdir(path).sort()) ?? [];
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (host.isErrno(error, ...SILENT)) return undefined;
    throw error;
  }
}
