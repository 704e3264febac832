/** This very machine, as the checks of `runt validate` ask about it. Reads only; looked up when it is asked for. */
import type { BundleView, HostFacts, Tree } from "../../check/index.ts";
import * as host from "../../host/index.ts";
import {
  LIVE,
  names as namesOf,
  parseFilesystems,
  readNumber,
  readText,
  readWords,
  recordCaller,
  recordCgroup,
  recordCpus,
  recordMemory,
  recordNamespaces,
  recordResctrl,
  seccompActions,
  seccompFlagsOf,
} from "../../prepare/index.ts";
import { fileFacts, treeBelow } from "./tree.ts";

/**
 * @param bundle absolute; undefined when config.json came without one
 * @param stateRoot where the containers of the host are looked for
 */
export function liveView(bundle: string | undefined, stateRoot: string): BundleView {
  return { facts: liveFacts(stateRoot), live: true, ...filesOf(bundle) };
}

/** Recorded facts of another host; of files, only those of the bundle count. */
export function recordedView(facts: Partial<HostFacts>, bundle: string | undefined): BundleView {
  return { facts, live: false, ...filesOf(bundle) };
}

/** `--host none`: what a plan is compiled for as well. No file is looked at, and of the machine only what a plan depends on is known. */
export function ordinaryView({ caller, cgroup, security, resctrl }: HostFacts, bundle: string | undefined): BundleView {
  return {
    facts: { caller, cgroup, security, resctrl },
    live: false,
    ...(bundle !== undefined && { bundle }),
    tree: () => undefined,
    stat: () => "unknown",
    namespace: () => "denied",
    text: () => undefined,
  };
}

function filesOf(bundle: string | undefined): Omit<BundleView, "facts" | "live"> {
  const trees = new Map<string, Tree | undefined>();
  // Several checks ask for the source of one mount.
  const seen = new Map<string, ReturnType<BundleView["stat"]>>();
  return {
    ...(bundle !== undefined && { bundle }),
    tree(directory) {
      if (!trees.has(directory)) trees.set(directory, treeBelow(directory));
      return trees.get(directory);
    },
    stat(path) {
      const known = seen.get(path);
      if (known !== undefined || seen.has(path)) return known;
      const facts = statOf(path);
      seen.set(path, facts);
      return facts;
    },
    namespace: namespaceAt,
    text: readText,
  };
}

function statOf(path: string): ReturnType<BundleView["stat"]> {
  try {
    const found = host.stat(path);
    return found && fileFacts(found);
  } catch (error) {
    return host.isErrno(error, "ELOOP", "ENAMETOOLONG", "EINVAL") ? undefined : "unknown";
  }
}

/** proc_pid_ns(5): what a link of /proc/PID/ns, or a bind mount of it, says of itself. */
const NAMESPACE = /^(\w+):\[\d+\]$/;
const OCI_NAMES: Readonly<Record<string, string>> = { mnt: "mount", net: "network" };

function namespaceAt(path: string): ReturnType<BundleView["namespace"]> {
  let fd: number;
  try {
    fd = host.open(path, host.O.RDONLY | host.O.NONBLOCK | host.O.NOCTTY);
  } catch (error) {
    return host.isErrno(error, "EACCES", "EPERM") ? "denied" : undefined;
  }
  try {
    const [, file] = NAMESPACE.exec(host.readlink(`/proc/self/fd/${fd}`)) ?? [];
    if (file === undefined) return undefined;
    const [there, here] = [host.fstat(fd), host.stat(`/proc/self/ns/${file}`)];
    return { type: OCI_NAMES[file] ?? file, own: here !== undefined && there.dev === here.dev && there.ino === here.ino };
  } finally {
    host.close(fd);
  }
}

/** A section is read when it is first asked for: a configuration that asks for little is looked at quickly. */
function liveFacts(stateRoot: string): Partial<HostFacts> {
  const sections: { readonly [K in keyof HostFacts]?: () => HostFacts[K] } = {
    // Of the kernel, the checks only ask what it is called and which machine it runs on.
    kernel: () => ({
      release: host.kernelRelease(),
      architecture: host.architecture,
      systemCalls: [],
      idmappedFilesystems: [],
      memfdNoexec: 0,
    }),
    caller: () => recordCaller(stateRoot),
    cgroup: liveCgroup,
    namespaces: recordNamespaces,
    userNamespaces: () => readNumber("/proc/sys/user/max_user_namespaces"),
    seccomp: () => ({
      actions: seccompActions(readWords("/proc/sys/kernel/seccomp/actions_avail")),
      flags: seccompFlagsOf(host.kernelRelease()),
    }),
    security: () => ({ modules: [], apparmor: LIVE.apparmor(), selinux: LIVE.selinux() }),
    filesystems: () => parseFilesystems(readText("/proc/filesystems") ?? ""),
    cpus: () => recordCpus(""),
    memory: recordMemory,
    limits: () => ({ nrOpen: readNumber("/proc/sys/fs/nr_open"), pidMax: 0, threadsMax: 0, mountMax: 0 }),
    resctrl: recordResctrl,
    rdmaDevices: () => namesOf("/sys/class/infiniband"),
    netDevices: () => namesOf("/sys/class/net").filter((name) => name !== "bonding_masters"),
  };
  const facts: Partial<HostFacts> = {};
  for (const [name, read] of Object.entries(sections)) defineOnce(facts, name, read);
  return facts;
}

/** A property that is made when it is first read. */
function defineOnce(object: object, name: string, make: () => unknown): void {
  Object.defineProperty(object, name, {
    configurable: true,
    enumerable: true,
    get() {
      const value = make();
      Object.defineProperty(object, name, { value, enumerable: true });
      return value;
    },
  });
}

/** The files of single groups are looked for only when a field needs one of them. */
function liveCgroup(): HostFacts["cgroup"] {
  const { version, hierarchies } = LIVE.cgroups();
  const cgroup: HostFacts["cgroup"] = {
    version,
    hierarchies: hierarchies.map(({ mountpoint, controllers }) => ({ mountpoint, controllers: [...controllers], writable: true })),
    files: [],
  };
  defineOnce(cgroup, "files", () => recordCgroup().files);
  return cgroup;
}
