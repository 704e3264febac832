/** One line in words about each operation: what it is done to, without what can be seen from its name. Pure. */
import { MOUNT_ATTR, O } from "../../shared/linux/index.ts";
import { CREATE, NO_SLOT, type OpArgs, type OpName, operationName } from "../../shared/protocol/index.ts";
import {
  attributeNames,
  capabilityList,
  clearedNames,
  deviceType,
  ioPriorityClass,
  memoryPolicyFlags,
  memoryPolicyMode,
  messageName,
  namespaceNames,
  octal,
  personalityDomain,
  propagationName,
  quote,
  rlimitName,
  schedulerFlags,
  schedulerPolicy,
  superFlagNames,
} from "./names.ts";
import type { Op } from "./plan.ts";

type Describers = { readonly [K in OpName]: (args: OpArgs<K>) => string };

const path = ({ path: place }: { readonly path: string }): string => quote(place);
const nothing = (): string => "";
const words = (list: readonly string[]): string => list.map(quote).join(" ");
const unit = ({ unit: name, socket }: { readonly unit: string; readonly socket: string }): string => `${name} through ${quote(socket)}`;
const group = ({ mount, group: name }: { readonly mount: string; readonly group: string }): string =>
  quote(name === "" ? mount : `${mount}/${name}`);
const base = (file: string): string => file.slice(file.lastIndexOf("/") + 1);

/** `directory/file`: enough to tell v1's hierarchies apart, whose directory stands in cgroup.create. */
function cgroupFile({ path: file, value }: OpArgs<"cgroup.write">): string {
  return `${base(file)} = ${quote(value)}`;
}

function bindTarget({ target, slot, create, attrDrop, ...attributes }: OpArgs<"mount.bind">): string {
  const how =
    create === CREATE.likeSource || create === CREATE.directory
      ? ""
      : (Object.entries(CREATE).find(([, number]) => number === create)?.[0] ?? "");
  // The flags of the source do not come along.
  const options = attrDrop === 0n ? mountOptions(attributes) : `${mountOptions(attributes)} only`.trim();
  return places(`slot ${slot}`, target, options, how);
}

function filesystem({ fstype, source, target, data, superFlags, ...attributes }: OpArgs<"mount.filesystem">): string {
  const what = source === fstype || source === "" ? fstype : `${fstype} ${quote(source)}`;
  return places(what, target, mountOptions({ ...attributes, data, superFlags }));
}

function hook({ kind, index, args, path: program, timeout, filtered }: OpArgs<"hook.run">): string {
  const rest = args.slice(1);
  return `${kind} ${index}: ${words([program, ...rest])}${timeout === 0 ? "" : `, at most ${timeout} s`}${filtered ? ", filtered" : ""}`;
}

function scheduler({ policy, flags, nice, priority, runtime, deadline, period }: OpArgs<"process.scheduler">): string {
  const times = policy === 6 ? ` ${runtime}/${deadline}/${period} ns` : ` nice=${nice} priority=${priority}`;
  return `${schedulerPolicy(policy)}${times}${flags === 0 ? "" : ` ${schedulerFlags(flags)}`}`;
}

function capabilities({ effective, permitted, inheritable, ambient }: OpArgs<"capability.set">): string {
  const sets = { effective, permitted, inheritable, ambient };
  const shown = Object.entries(sets).map(([name, bits]) => ({ name, list: capabilityList(bits) }));
  return [...new Set(shown.map(({ list }) => list))]
    .map(
      (list) =>
        `${shown
          .filter((set) => set.list === list)
          .map(({ name }) => name)
          .join("=")}: ${list}`,
    )
    .join("; ");
}

function timeOffsets(args: OpArgs<"time.offsets">): string {
  const { monotonicSeconds, monotonicNanoseconds, boottimeSeconds, boottimeNanoseconds } = args;
  return `monotonic ${monotonicSeconds}.${String(monotonicNanoseconds).padStart(9, "0")} boottime ${boottimeSeconds}.${String(boottimeNanoseconds).padStart(9, "0")}`;
}

const DESCRIBERS: Describers = {
  "state.intent": ({ directory }) => quote(directory),
  "fifo.create": ({ path: file, mode }) => `${quote(file)} ${octal(mode)}`,
  "cgroup.create": path,
  "cgroup.write": cgroupFile,
  "cgroup.devices": ({ path: directory, rules }) => `${quote(directory)}: ${words(rules)}`,
  "cgroup.delegate": ({ path: directory, uid }) => `${quote(directory)} to user ${uid}`,
  "helper.spawn": ({ cgroup }) => (cgroup === "" ? "" : `in ${quote(cgroup)}`),
  "idmap.write": ({ uidMap, gidMap, uidProgram, gidProgram }) =>
    [
      `uids ${triples(uidMap)}`,
      `gids ${triples(gidMap)}`,
      ...[uidProgram, gidProgram].filter((program) => program !== "").map((program) => `by ${quote(program)}`),
    ].join(" "),
  "process.oomScoreAdj": ({ value }) => String(value),
  "process.rlimit": ({ resource, soft, hard }) => `${rlimitName(resource)} ${limit(soft)}:${limit(hard)}`,
  "state.commit": ({ directory }) => quote(`${directory}/state.json`),
  "pidfile.write": path,
  "pidfd.send": path,
  "notify.prepare": ({ directory, listen, host }) => `${quote(directory)}${listen ? ` for ${quote(host)}` : ""}`,
  "sync.send": ({ message }) => messageName(message),
  "sync.wait": ({ message }) => messageName(message),
  "file.open": ({ path: file, flags, slot }) => `${quote(file)} ${fileFlags(flags)} as slot ${slot}`,
  "proc.open": () => "/proc",
  "cgroup.open": ({ files }) => words(files),
  "cgroup.openDirectory": path,
  "cgroup.openTree": ({ path: directory, slot, made }) => `${quote(directory)} as slot ${slot}, once cgroup ${made} is made`,
  "namespace.join": ({ flag, path: file }) => `${namespaceNames(flag)} of ${quote(file)}`,
  "namespace.unshare": ({ flags }) => namespaceNames(flags),
  "time.offsets": timeOffsets,
  "console.connect": path,
  "mount.open": ({ source, recursive, slot }) => `${quote(source)}${recursive ? " with all below" : ""} as slot ${slot}`,
  "mask.open": () => "/dev/null",
  "process.clone": ({ flags, cgroup }) => `new: ${namespaceNames(flags)}${cgroup === NO_SLOT ? "" : "; into the cgroup"}`,
  "process.deathSignal": ({ signal }) => (signal === 0 ? "none" : `signal ${signal}`),
  "cgroup.join": ({ count }) => `${count} ${count === 1 ? "hierarchy" : "hierarchies"}`,
  "process.becomeRoot": ({ keepGroups }) => `of the user namespace${keepGroups ? ", with the caller's groups" : ""}`,
  "session.create": nothing,
  "keyring.join": ({ name }) => quote(name),
  "loopback.up": () => "lo",
  "hostname.set": ({ name }) => quote(name),
  "domainname.set": ({ name }) => quote(name),
  "root.propagation": ({ flags }) => `/ ${propagationName(flags)}`,
  "root.open": ({ path: rootfs, inPlace }) => `${quote(rootfs)}${inPlace ? " as it is" : ""}`,
  "mount.bind": bindTarget,
  "mount.filesystem": filesystem,
  "mount.propagation": ({ slot, flags }) => `slot ${slot} ${propagationName(flags)}`,
  "mount.detach": ({ target }) => quote(target),
  "mount.remount": ({ target, superblock, ...rest }) => places("", target, mountOptions(rest), superblock ? "with its superblock" : ""),
  "directory.create": ({ path: directory, mode }) => `${quote(directory)} ${octal(mode)}`,
  "symlink.create": ({ path: link, text }) => `${quote(link)} -> ${quote(text)}`,
  "device.create": ({ path: node, type, major, minor, mode, uid, gid }) =>
    `${quote(node)} ${deviceType(type)} ${major}:${minor} ${octal(mode)} ${uid}:${gid}`,
  "console.open": ({ rows, columns, uid, bindConsole }) =>
    [`for user ${uid}`, ...(rows + columns === 0 ? [] : [`${columns}x${rows}`]), ...(bindConsole ? ["on /dev/console"] : [])].join(" "),
  "root.pivot": nothing,
  "root.move": nothing,
  "root.finalPropagation": ({ flags }) => `/ ${propagationName(flags)}`,
  "root.readonly": () => "/",
  "sysctl.write": ({ key, value }) => `${key.replaceAll("/", ".")} = ${quote(value)}`,
  "path.readonly": path,
  "root.enter": () => "by chroot",
  "path.mask": path,
  "process.umask": ({ mask }) => octal(mask),
  "process.stdioOwner": ({ uid }) => `user ${uid}`,
  "process.noNewPrivileges": nothing,
  "capability.bounding": ({ mask }) => capabilityList(mask),
  "process.user": ({ uid, gid, groups }) => `${uid}:${gid}${groups.length === 0 ? "" : ` groups ${groups.join(",")}`}`,
  "capability.set": capabilities,
  "process.cwd": path,
  "process.home": ({ uid }) => `HOME of user ${uid} from /etc/passwd`,
  "process.program": ({ name, path: search }) => (name.includes("/") ? quote(name) : `${quote(name)} in ${quote(search)}`),
  "descriptors.sweep": ({ first }) => `from ${first} up`,
  "process.wait": () => "for start",
  "process.claim": ({ operations, most }) => `for the process of start: ${operations.map(operationName).join(", ")}; at most ${most} bytes`,
  "console.size": ({ rows, columns }) => `${columns}x${rows}`,
  "file.receive": ({ path: file, mode, bytes }) => `${quote(file)} ${octal(mode)} of ${bytes} bytes`,
  "process.exec": ({ args }) => words(args),
  "hook.run": hook,
  "seccomp.prepare": ({ profile }) => `${profile.split("\nrule ").length - 1} rules`,
  "seccomp.load": ({ flags, listener }) =>
    [...(flags === 0 ? [] : [`flags 0x${flags.toString(16)}`]), ...(listener ? ["with a listener"] : [])].join(" "),
  "seccomp.notify": path,
  "label.set": ({ file, value }) => `${file} = ${quote(value)}`,
  "namespace.enter": ({ pid, flags }) => `${namespaceNames(flags)} of process ${pid}`,
  "root.current": path,
  "sync.end": () => "until execve",
  "mount.cgroup": ({ target, slot, ...attributes }) =>
    places("cgroup2", target, mountOptions(attributes), slot === NO_SLOT ? "" : `or slot ${slot}`),
  "seccomp.receive": nothing,
  "capability.drop": ({ effective, permitted }) => `effective: ${capabilityList(effective)}; permitted: ${capabilityList(permitted)}`,
  "directory.open": ({ path: directory, slot }) => `${quote(directory)} as slot ${slot}`,
  "directory.copy": ({ path: directory, slot }) => places(`slot ${slot}`, directory, ""),
  "process.affinity": ({ cpus }) => `CPUs ${cpus.join(",")}`,
  "seccomp.send": nothing,
  "process.scheduler": scheduler,
  "process.ioPriority": ({ class: name, priority }) => `${ioPriorityClass(name)} ${priority}`,
  "process.personality": ({ domain }) => personalityDomain(domain),
  "process.memoryPolicy": ({ mode, flags, nodes }) =>
    [memoryPolicyMode(mode), memoryPolicyFlags(flags), nodes.length === 0 ? "" : `nodes ${nodes.join(",")}`].filter(Boolean).join(" "),
  "root.bind": ({ path: rootfs }) => `${quote(rootfs)} in the caller's mount namespace`,
  "resctrl.prepare": ({ schemata, ...ref }) => `${group(ref)}${schemata.length === 0 ? "" : `: ${schemata.map(quote).join(" ")}`}`,
  "resctrl.join": group,
  "resctrl.monitor": group,
  "netdevice.move": ({ device, name, namespace }) =>
    `${device === name ? device : `${device} as ${name}`}${namespace === "" ? "" : `, and back by ${quote(namespace)}`}`,
  "idmap.open": ({ uidMap, gidMap, slot }) => `uids ${triples(uidMap)} gids ${triples(gidMap)} as slot ${slot}`,
  "mount.idmap": ({ slot, userNamespace, recursive }) => `slot ${slot} by slot ${userNamespace}${recursive ? " with all below" : ""}`,
  "mount.make": ({ fstype, source, data, superFlags, attrSet, slot }) =>
    places(`${fstype} ${quote(source)}`, `slot ${slot}`, mountOptions({ attrSet, data, superFlags })),
  "source.serve": () => "with the rights of the host",
  "mount.openLink": ({ source, device, inode, slot }) =>
    `${quote(source)}${inode === 0n ? "" : ` if it is inode ${device}:${inode}`} as slot ${slot}`,
  "device.open": ({ path: node, type, major, minor, mode, uid, gid, slot }) =>
    `${quote(node)} ${deviceType(type)} ${major}:${minor} ${octal(mode)} ${uid}:${gid} as slot ${slot}`,
  "idmap.verify": ({ uidMap, gidMap }) => `uids ${triples(uidMap)} gids ${triples(gidMap)}`,
  "systemd.startUnit": ({ properties, ...rest }) => `${unit(rest)}: ${words(properties)}`,
  "cgroup.attach": ({ files }) => words(files),
  "systemd.attach": ({ path: place, ...rest }) => `${unit(rest)} at ${quote(place)}`,
};

const INFINITY = (1n << 64n) - 1n;

function limit(value: bigint): string {
  return value === INFINITY ? "unlimited" : String(value);
}

export function describeOperation({ op, args }: Op): string {
  return (DESCRIBERS[op] as (args: Op["args"]) => string)(args);
}

interface MountParts {
  readonly data?: readonly string[];
  readonly superFlags?: bigint;
  readonly attrSet?: bigint;
  readonly attrClear?: bigint;
  readonly recursiveSet?: bigint;
  readonly recursiveClear?: bigint;
  readonly propagation?: readonly number[];
}

/**
 * Parts that several operations are described with. Pure. As mount(8) would have it:
 * "nosuid,nodev,size=64k".
 */
function mountOptions({ attrSet = 0n, attrClear = 0n, recursiveSet = 0n, recursiveClear = 0n, ...rest }: MountParts): string {
  const recursive = (names: string): string => names.replace(/(^|,)/g, "$1r");
  // An access time that is set clears the others of its group first, which says nothing.
  const cleared = (attrSet & MOUNT_ATTR.ATIME) === 0n ? attrClear : attrClear & ~MOUNT_ATTR.ATIME;
  return [
    superFlagNames((rest.superFlags ?? 0n) & ~attrSet),
    attributeNames(attrSet),
    clearedNames(cleared),
    recursiveSet === 0n ? "" : recursive(attributeNames(recursiveSet)),
    recursiveClear === 0n ? "" : recursive(clearedNames(recursiveClear)),
    ...(rest.propagation ?? []).map(propagationName),
    ...(rest.data ?? []).map(quote),
  ]
    .filter((part) => part !== "")
    .join(",");
}

/** "proc -> /proc nosuid". */
function places(what: string, target: string, options: string, remark = ""): string {
  const arrow = what === "" ? quote(target) : `${what} -> ${quote(target)}`;
  return [arrow, options, remark].filter((part) => part !== "").join(" ");
}

/** "0:100000+65536,..." of container id, host id, size. */
function triples(numbers: readonly number[]): string {
  const ranges: string[] = [];
  for (let at = 0; at < numbers.length; at += 3) ranges.push(`${numbers[at]}:${numbers[at + 1]}+${numbers[at + 2]}`);
  return ranges.join(",") || "none";
}

function fileFlags(flags: number): string {
  const access = (flags & O.RDWR) !== 0 ? "read-write" : (flags & O.WRONLY) !== 0 ? "write" : "read";
  return (flags & O.CREAT) === 0 ? access : `${access}, made anew`;
}
