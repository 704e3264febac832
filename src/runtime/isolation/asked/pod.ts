/** What the annotations of engines say of a pod (src/runtime/config/cri has the whole of it, for containers without a machine). */
import type { Spec, SpecResources } from "../../spec/index.ts";

type Annotations = Spec["annotations"];
export type SpecNamespace = NonNullable<NonNullable<Spec["linux"]>["namespaces"]>[number];

/** In the order in which they are looked for: what the container is, and of which sandbox. */
export const POD_KEYS: readonly (readonly [type: string, id: string])[] = [
  ["io.kubernetes.cri.container-type", "io.kubernetes.cri.sandbox-id"],
  ["io.kubernetes.cri-o.ContainerType", "io.kubernetes.cri-o.SandboxID"],
  ["io.kubernetes.docker.type", "io.kubernetes.sandbox.id"],
];

export interface PodPart {
  readonly isSandbox: boolean;
  readonly sandbox: string | undefined;
}

/** undefined: it has nothing to do with a pod. */
export function podPart(annotations: Annotations): PodPart | undefined {
  const type = POD_KEYS.map(([key]) => annotations?.[key]).find((word) => word !== undefined);
  if (type === undefined) return undefined;
  return { isSandbox: type !== "container", sandbox: POD_KEYS.map(([, key]) => annotations?.[key]).find((id) => id !== undefined) };
}

const SIZE = "io.kubernetes.cri.sandbox-";
/** cpu.shares of one CPU, as Kubernetes counts. */
const SHARES_OF_A_CPU = 1024;

/** How much the containers of a pod may use together: limits of its machine. Without them those of the sandbox itself count. */
export function podResources(annotations: Annotations, own: SpecResources | null | undefined): SpecResources | null | undefined {
  const read = (name: string): bigint | undefined => {
    const text = annotations?.[`${SIZE}${name}`] ?? "";
    return /^[+-]?\d{1,19}$/.test(text) ? BigInt(text.replace("+", "")) : undefined;
  };
  const [quota, period, shares, memory] = [read("cpu-quota"), read("cpu-period"), read("cpu-shares"), read("memory")];
  if ([quota, period, shares, memory].every((each) => each === undefined)) return own;
  const byShares = quota !== undefined && quota < 0n && shares !== undefined && shares > 0n;
  const time = byShares ? { quota: shares, period: BigInt(SHARES_OF_A_CPU) } : { quota, period };
  return {
    ...own,
    cpu: { ...own?.cpu, ...(time.quota !== undefined && { quota: time.quota }), ...(time.period !== undefined && { period: time.period }) },
    ...(memory !== undefined && { memory: { limit: memory } }),
  };
}

/**
 * Namespaces of a pod that an engine has made before its sandbox and keeps by files (CRI-O: /var/run/ipcns and the like). The monitor of the sandbox
 * joins them on the host, where nothing else is in them: by that the containers of the pod are known, which name the same files. What the pod shares is
 * in the guest.
 */
const PINNED: readonly string[] = ["ipc", "uts"];
/** Somebody is in that, whose processes would not be in the guest. */
const OF_A_PROCESS = /^\/proc\//;

export function isPinned({ annotations }: Spec, { type, path }: SpecNamespace): boolean {
  return podPart(annotations)?.isSandbox === true && PINNED.includes(type) && !OF_A_PROCESS.test(path ?? "");
}

/** Those of the monitor: a new one where none is given. */
export function monitorNamespaces(spec: Spec): SpecNamespace[] {
  const given = spec.linux?.namespaces ?? [];
  return PINNED.map((type) => given.find((each) => each.type === type && each.path && isPinned(spec, each)) ?? { type });
}
