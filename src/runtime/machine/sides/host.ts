/**
 * The host's side: a container of its own, whose program is the monitor. Its root is the jail of the guest image, its mount, pid and ipc namespaces end
 * with it, and so do the hypervisor, the file server, and what is mounted for them.
 */
import type { Spec, SpecMount } from "../../spec/index.ts";
import { JAIL, SHARED } from "../places.ts";
import { type MachineRequest, toEnvironment } from "../request.ts";
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

/** What the file server needs to act for every user of the container, and the monitor to make the hypervisor another user. */
const CAPABILITIES = [
  ...["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER", "CAP_FSETID", "CAP_SETGID", "CAP_SETUID"],
  // The file server drops what it does not need from its bounding set.
  ...["CAP_MKNOD", "CAP_SETFCAP", "CAP_SETPCAP", "CAP_SYS_CHROOT", "CAP_KILL"],
];
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
        env: ["PATH=/usr/bin:/bin", ...toEnvironment(request)],
        cwd: "/",
        capabilities: { bounding: CAPABILITIES, effective: CAPABILITIES, permitted: CAPABILITIES },
        ...(process.oomScoreAdj !== undefined && { oomScoreAdj: process.oomScoreAdj }),
      },
    }),
    mounts: [...ownMounts(parts), rootMount(spec, parts), ...volumes],
    ...(hooks && { hooks: { prestart, createRuntime, poststart, poststop } }),
    annotations: { ...annotations, [ISOLATION]: "vm" },
    linux: {
      ...(linux?.cgroupsPath !== undefined && { cgroupsPath: linux.cgroupsPath }),
      namespaces: [...network, ...["pid", "mount", "ipc", "uts"].map((type) => ({ type }))],
      resources: hostResources(linux?.resources, size),
    },
  };
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
