/**
 * The host's side: a container of its own, whose program is the monitor. Its root is the jail of the guest image, its mount, pid and ipc namespaces end
 * with it, and so do the hypervisor, the file server, and what is mounted for them.
 */
import type { KeptMachine } from "../../config/index.ts";
import type { Spec, SpecMount } from "../../spec/index.ts";
import type { SpecNamespace } from "../asked/pod.ts";
import type { MachineSettings } from "../asked/settings.ts";
import { JAIL, SHARED } from "../places.ts";
import { type AttachRequest, type EndRequest, type MachineRequest, toEnvironment } from "../request.ts";

export interface HostParts {
  readonly settings: MachineSettings;
  /** This program's file. */
  readonly runt: string;
  /** Absolute path of the container's root file system. */
  readonly rootfs: string;
  readonly volumes: readonly SpecMount[];
  /** What the process that stands for the container does, by which name of its program, and what it is told. */
  readonly role: string;
  readonly environment: readonly string[];
  /** The last hook before the pivot, and the one at the end: what they do, and what they are told. */
  readonly making: readonly [role: string, request: AttachRequest | MachineRequest];
  readonly leaving: EndRequest;
  readonly namespaces: readonly SpecNamespace[];
  readonly resources: NonNullable<NonNullable<Spec["linux"]>["resources"]>;
  readonly devices: NonNullable<NonNullable<Spec["linux"]>["devices"]>;
}

/** What depends on whether the machine is the container's own, and what the verbs that come later have to know of it. */
export type MachineParts = Pick<HostParts, "role" | "environment" | "making" | "leaving" | "namespaces" | "resources" | "devices"> & {
  readonly machine: KeptMachine;
};

export function hostSpec(spec: Spec, parts: HostParts): Spec {
  const { settings, volumes, role, environment, making, leaving, namespaces, resources, devices, runt } = parts;
  const { annotations = {}, hooks, linux, process } = spec;
  const { prestart, createRuntime, poststart, poststop } = hooks ?? {};
  const hook = (name: string, request: object) => ({ path: runt, args: ["runt", name], env: [PATH, ...toEnvironment(request)] });
  return {
    ociVersion: spec.ociVersion,
    root: { path: `${settings.image}/jail`, readonly: true },
    ...(process && {
      process: {
        terminal: process.terminal ?? false,
        ...(process.consoleSize && { consoleSize: process.consoleSize }),
        user: { uid: 0, gid: 0 },
        args: [JAIL.runt, role],
        env: [PATH, ...environment],
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
      createContainer: [hook(...making)],
      poststart,
      poststop: [...(poststop ?? []), ...(Object.keys(leaving).length > 0 ? [hook("machine-leave", leaving)] : [])],
    },
    annotations: { ...annotations, [ISOLATION]: "vm" },
    linux: {
      ...(linux?.cgroupsPath !== undefined && { cgroupsPath: linux.cgroupsPath }),
      ...(devices.length > 0 && { devices: [...devices] }),
      namespaces: [...namespaces],
      resources,
    },
  };
}

/** For the taps of the hypervisor. */
export const TUN = { path: "/dev/net/tun", type: "c", major: 10, minor: 200, fileMode: 0o600, uid: 0, gid: 0 };

/** Of its own: the host's is not the machine's. */
export function hasNetwork({ linux }: Pick<Spec, "linux">): boolean {
  return linux?.namespaces?.some(({ type }) => type === "network") ?? false;
}

export const kvmOf = (user: number) => ({ path: "/dev/kvm", type: "c", major: 10, minor: 232, fileMode: 0o600, uid: user, gid: user });

const PATH = "PATH=/usr/bin:/bin";

/** Annotation by which isolation is asked for. `state` shows it, and builds before 1.4 of the state record go by it. */
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
