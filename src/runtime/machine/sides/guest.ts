/** The guest's side: config.json as the runt in the machine reads it. */
import type { Spec, SpecMount } from "../../spec/index.ts";
import { GUEST, guestCgroup, SHARED } from "../places.ts";

/** `mounts`: as they are in the guest. `joined`: the id of a container in the machine of another one. */
export function guestSpec(spec: Spec, mounts: readonly SpecMount[], joined?: string): Spec {
  const { annotations: _, hooks, linux, process, root, vm: __, windows, solaris, zos, freebsd, ...rest } = spec;
  const inside = process && withoutLabels(process);
  const startContainer = hooks?.startContainer;
  return {
    ...rest,
    root: { path: `${sharedOf(joined)}/${SHARED.root}`, ...(root?.readonly !== undefined && { readonly: root.readonly }) },
    ...(inside && { process: inside }),
    mounts: [...mounts],
    ...(startContainer && { hooks: { startContainer } }),
    linux: {
      ...withoutHostParts(linux),
      cgroupsPath: guestCgroup(joined),
      namespaces: joined === undefined ? namespacesOf(linux) : joinedNamespaces(linux),
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

/** A path is one of the first container's namespaces, whose network all have. */
function joinedNamespaces(linux: Linux | null | undefined): { type: string; path?: string }[] {
  const given = (linux?.namespaces ?? []).filter(({ type }) => type !== "network" && type !== "mount");
  const path = (type: string): string => `${GUEST.sandbox}/ns/${type === "network" ? "net" : type}`;
  return [
    ...given.map((each) => ({ type: each.type, ...(each.path && { path: path(each.type) }) })),
    { type: "network", path: path("network") },
    { type: "mount" },
  ];
}

/** Processors and memory nodes have the host's numbers: they are where the machine runs. */
function guestResources({ cpu, blockIO: _, hugepageLimits: __, rdma: ___, network: ____, ...resources }: NonNullable<Linux["resources"]>) {
  if (!cpu) return resources;
  const { cpus: _____, mems: ______, realtimePeriod: _______, realtimeRuntime: ________, ...time } = cpu;
  return { ...resources, cpu: time };
}
