/**
 * The host's side: a container of its own, whose program is the monitor. Its root is the jail of the guest image, its mount, pid and ipc namespaces end
 * with it, and so do the hypervisor, the file server, and what is mounted for them.
 */
import type { Spec, SpecMount } from "../../spec/index.ts";
import { JAIL, SHARED } from "../places.ts";
import { type EndRequest, type MachineRequest, type MonitorRequest, toEnvironment } from "../request.ts";
import type { MachineSettings } from "./settings.ts";
import type { MachineSize } from "./size.ts";

export interface HostParts {
  readonly settings: MachineSettings;
  readonly size: MachineSize;
  readonly request: MachineRequest;
  /** This program's file. */
  readonly runt: string;
  /** Absolute path of the container's root file system. */
  readonly rootfs: string;
  readonly volumes: readonly SpecMount[];
}

/** Processes and threads of monitor, hypervisor and file server; virtiofsd has a thread for each request under way. */
const PIDS = 256;

export function hostSpec(spec: Spec, parts: HostParts): Spec {
  const { settings, size, request, volumes } = parts;
  const { annotations = {}, hooks, linux, process } = spec;
  const { prestart, createRuntime, poststart, poststop } = hooks ?? {};
  const network = linux?.namespaces?.filter(({ type }) => type === "network") ?? [];
  return {
    ociVersion: spec.ociVersion,
    root: { path: `${settings.image}/jail`, readonly: true },
    ...(process && {
      process: {
        terminal: process.terminal ?? false,
        ...(process.consoleSize && { consoleSize: process.consoleSize }),
        user: { uid: 0, gid: 0 },
        args: [JAIL.runt, "machine-monitor"],
        env: [PATH, ...toEnvironment({ terminal: request.terminal, memoryMiB: request.memoryMiB } satisfies MonitorRequest)],
        cwd: "/",
        // It only reads and writes what it is given, and what the guest sends is read by it.
        capabilities: {},
        noNewPrivileges: true,
        ...(process.oomScoreAdj !== undefined && { oomScoreAdj: process.oomScoreAdj }),
      },
    }),
    mounts: [...ownMounts(parts), rootMount(spec, parts), ...volumes],
    hooks: {
      prestart,
      createRuntime,
      createContainer: [bootHook(parts)],
      poststart,
      poststop: [...(poststop ?? []), ...leaveHook(spec, parts)],
    },
    annotations: { ...annotations, [ISOLATION]: "vm" },
    linux: {
      ...(linux?.cgroupsPath !== undefined && { cgroupsPath: linux.cgroupsPath }),
      ...(hasNetwork(spec) && { devices: [TUN] }),
      namespaces: [...network, ...["pid", "mount", "ipc", "uts"].map((type) => ({ type }))],
      resources: hostResources(linux?.resources, size),
    },
  };
}

/** For the taps of the hypervisor. */
const TUN = { path: "/dev/net/tun", type: "c", major: 10, minor: 200, fileMode: 0o600, uid: 0, gid: 0 };

/** Of its own: the host's is not the machine's. */
export function hasNetwork({ linux }: Pick<Spec, "linux">): boolean {
  return linux?.namespaces?.some(({ type }) => type === "network") ?? false;
}

const PATH = "PATH=/usr/bin:/bin";

/**
 * `create` boots the machine and makes the container in it: after the hooks that make the network and before the pivot, in the namespaces and the
 * cgroup of the monitor, which takes the channel over when it starts. What cannot be made there fails `create`.
 */
function bootHook({ request, runt }: HostParts) {
  return { path: runt, args: ["runt", "machine-boot"], env: [PATH, ...toEnvironment(request)] };
}

/** A network namespace that the container makes ends with it. */
function leaveHook({ linux }: Spec, { runt }: HostParts) {
  const network = linux?.namespaces?.find(({ type }) => type === "network")?.path;
  return network ? [{ path: runt, args: ["runt", "machine-leave"], env: [PATH, ...toEnvironment({ network } satisfies EndRequest)] }] : [];
}

/** Annotation by which isolation is asked for, and by which a container in a machine is known. */
export const ISOLATION = "io.runt.isolation";

function ownMounts({ runt, settings }: HostParts): SpecMount[] {
  const readonly = ["bind", "ro", "nosuid", "nodev"];
  const place = (from: string, to: string): SpecMount => ({ destination: to, type: "bind", source: from, options: readonly });
  return [
    { destination: "/proc", type: "proc", source: "proc", options: ["nosuid", "noexec", "nodev"] },
    { destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "noexec", "mode=755", "size=64k"] },
    {
      destination: "/dev/pts",
      type: "devpts",
      source: "devpts",
      options: ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"],
    },
    { destination: "/run", type: "tmpfs", source: "tmpfs", options: ["nosuid", "nodev", "noexec", "mode=711", "size=1m"] },
    { destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["nosuid", "nodev", "noexec", "mode=1777", "size=1m"] },
    // With the links of the jail, programs and libraries of a system whose directories are merged.
    place("/usr", "/usr"),
    place(`${settings.image}/boot`, "/image"),
    place(runt, JAIL.runt),
    { destination: JAIL.share, type: "tmpfs", source: "tmpfs", options: ["nosuid", "nodev", "mode=755", "size=1m"] },
  ];
}

/** With all that is mounted below: an engine may have put volumes there. */
function rootMount({ root }: Spec, { rootfs }: HostParts): SpecMount {
  const options = ["rbind", ...(root?.readonly === true ? ["ro"] : [])];
  return { destination: `${JAIL.share}/${SHARED.root}`, type: "bind", source: rootfs, options };
}

/** Where the machine runs is the container's choice; what it uses follows from its size. Its own limits hold in the guest. */
function hostResources(asked: NonNullable<Spec["linux"]>["resources"], { hostBytes }: MachineSize) {
  const { cpus, mems, shares } = asked?.cpu ?? {};
  return {
    memory: { limit: hostBytes },
    pids: { limit: PIDS },
    cpu: { ...(cpus !== undefined && { cpus }), ...(mems !== undefined && { mems }), ...(shares !== undefined && { shares }) },
  };
}
