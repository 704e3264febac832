/** The guest's side: config.json as the runt in the machine reads it, and the half of a plan that is carried out there. */

import { type CgroupHierarchies, cgroupSources, compileCgroup, resolveCgroup } from "../../cgroup/index.ts";
import type { ContainerConfig } from "../../config/index.ts";
import { compile, type Plan } from "../../plan/index.ts";
import type { Spec, SpecMount } from "../../spec/index.ts";
import { GUEST, guestCgroup, guestProcess, SHARED } from "../places.ts";
import type { SandboxMachine } from "./parts.ts";

/** `mounts`: as they are in the guest. `joined`: the id of a container in the machine of another one, and that machine. */
export function guestSpec(spec: Spec, mounts: readonly SpecMount[], joined?: readonly [id: string, machine: SandboxMachine]): Spec {
  const { annotations: _, hooks, linux, process, root, vm: __, windows, solaris, zos, freebsd, ...rest } = spec;
  const inside = process && withoutLabels(process);
  const startContainer = hooks?.startContainer;
  return {
    ...rest,
    root: { path: `${sharedOf(joined?.[0])}/${SHARED.root}`, ...(root?.readonly !== undefined && { readonly: root.readonly }) },
    ...(inside && { process: inside }),
    mounts: [...mounts],
    ...(startContainer && { hooks: { startContainer } }),
    linux: {
      ...withoutHostParts(linux),
      cgroupsPath: guestCgroup(joined?.[0]),
      namespaces: joined === undefined ? namespacesOf(linux) : joinedNamespaces(linux, joined[1]),
      ...(linux?.resources && { resources: guestResources(linux.resources) }),
    },
  };
}

/** Where in the guest those entries of the share are that the container has. */
export function sharedOf(joined?: string): string {
  return joined === undefined ? GUEST.share : `${GUEST.joined}/${joined}`;
}

type Process = NonNullable<Spec["process"]>;
type Linux = NonNullable<Spec["linux"]>;

/** The guest's kernel has neither of the two security modules. */
function withoutLabels({ apparmorProfile: _, selinuxLabel: __, ...process }: Process): Process {
  return process;
}

function withoutHostParts(linux: Linux | null | undefined): Linux {
  const { mountLabel: _, rootfsPropagation: __, ...rest } = linux ?? {};
  return rest;
}

/** None is joined: those of others are on the host. The network is the guest's own in any case. */
function namespacesOf(linux: Linux | null | undefined): { type: string }[] {
  const types = new Set((linux?.namespaces ?? []).map(({ type }) => type));
  return [...types.add("network").add("mount")].map((type) => ({ type }));
}

/** A path is that of the same namespace in the guest. All have the first container's network. */
function joinedNamespaces(linux: Linux | null | undefined, { ownerOf }: SandboxMachine): { type: string; path?: string }[] {
  const given = (linux?.namespaces ?? []).filter(({ type }) => type !== "network" && type !== "mount");
  const inGuest = (type: string, path: string): string => `${guestProcess(ownerOf(type, path)?.joined)}/ns/${type}`;
  return [
    ...given.map(({ type, path }) => ({ type, ...(path && { path: inGuest(type, path) }) })),
    { type: "network", path: `${guestProcess()}/ns/net` },
    { type: "mount" },
  ];
}

/**
 * Processors and memory nodes have the host's numbers: they are where the machine runs. How eagerly the kernel swaps is said to hosts of cgroup v1; the guest has no
 * swap, and cgroup v2.
 */
function guestResources({ cpu, memory, blockIO, hugepageLimits, rdma, network, ...resources }: NonNullable<Linux["resources"]>) {
  const { cpus, mems, realtimePeriod, realtimeRuntime, ...time } = cpu ?? {};
  const { swappiness, ...limits } = memory ?? {};
  return { ...resources, ...(cpu && { cpu: time }), ...(memory && { memory: limits }) };
}

/** What Debian's cloud kernel has, and the guest's first process mounts (src/runtime/isolation/guest/boot.ts). */
const GUEST_CGROUPS: CgroupHierarchies = {
  version: 2,
  hierarchies: [{ mountpoint: "/sys/fs/cgroup", controllers: ["cpuset", "cpu", "io", "memory", "hugetlb", "pids", "rdma", "misc"] }],
};

/** The runt there compiles the same configuration for the same facts. */
export function guestPlan(config: ContainerConfig, id: string): Plan {
  const path = resolveCgroup(config.cgroupsPath, id);
  const cgroup = compileCgroup(GUEST_CGROUPS, path, config.resources, { rootless: false });
  const stream = `${GUEST.streams}0`;
  return compile({
    config,
    host: {
      stateDirectory: `${GUEST.state}/${id}`,
      rootless: false,
      cgroupVersion: 2,
      cgroupSources: cgroupSources(GUEST_CGROUPS, path),
      cgroup,
    },
    invocation: {
      ...{ id, mode: "create", noPivot: false, noNewKeyring: false, preserveFds: 0, listenFds: 0, pidFile: `${stream}/pid` },
      ...(config.process?.terminal && { consoleSocket: `${stream}/console` }),
    },
  });
}
