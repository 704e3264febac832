/** Computes requests and limits of containers and pods, and the resulting quality-of-service class. */
import { quantityIn } from "./quantity.ts";
import type { ResourcesInput } from "./schema/container.ts";

/** CPU in thousandths, memory and storage (what is written on the disk) in bytes. Absent: not given. */
export interface Amounts {
  readonly cpu?: number;
  readonly memory?: number;
  readonly storage?: number;
}

export interface ContainerResources {
  readonly limits: Amounts;
  /** Without a request, the limit counts as the request. */
  readonly requests: Amounts;
}

export function resourcesOf(given: Pick<ResourcesInput, "limits" | "requests"> | undefined): ContainerResources {
  const limits = amountsOf(given?.limits);
  return { limits, requests: { ...limits, ...amountsOf(given?.requests) } };
}

type Written = string | number | undefined;

function amountsOf(given: { cpu?: Written; memory?: Written; "ephemeral-storage"?: Written } | undefined): Amounts {
  const storage = given?.["ephemeral-storage"];
  return {
    ...(storage === undefined ? {} : { storage: quantityIn(storage) }),
    ...(given?.cpu === undefined ? {} : { cpu: quantityIn(given.cpu, 1000) }),
    ...(given?.memory === undefined ? {} : { memory: quantityIn(given.memory) }),
  };
}

/** Converts thousandths of a CPU to cpu.shares: 1024 for one CPU, at least the kernel's minimum of 2. */
export function sharesOf(milliCpu: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(2, Math.trunc((milliCpu * 1024) / 1000)));
}

export interface PodParts<T> {
  readonly containers: readonly T[];
  /** In the order in which they start. `isSidecar`: the container keeps running beside those that start after it. */
  readonly init: readonly { readonly value: T; readonly isSidecar: boolean }[];
}

/**
 * The maximum that the pod needs at any time: its containers with all sidecars, or one init container with
 * the sidecars before it. undefined: a container has no limit, so that the pod has none.
 */
export function podTotal({ containers, init }: PodParts<number | undefined>): number | undefined {
  let beside = 0;
  let most = 0;
  for (const { value, isSidecar } of init) {
    if (value === undefined) return undefined;
    most = Math.max(most, beside + value);
    if (isSidecar) beside += value;
  }
  let together = beside;
  for (const value of containers) {
    if (value === undefined) return undefined;
    together += value;
  }
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(most, together));
}

export type QosClass = "Guaranteed" | "Burstable" | "BestEffort";

/**
 * Source: Kubernetes, "Pod Quality of Service Classes".
 * @param pod resources of the pod as a whole, which take precedence over those of its containers
 */
export function qosClass(containers: readonly ContainerResources[], pod?: ContainerResources): QosClass {
  const all = pod === undefined ? containers : [pod];
  const amounts = all.flatMap(({ limits, requests }) => [limits.cpu, limits.memory, requests.cpu, requests.memory]);
  if (amounts.every((one) => (one ?? 0) === 0)) return "BestEffort";
  const isGuaranteed = all.every(
    ({ limits, requests }) =>
      (limits.cpu ?? 0) > 0 && (limits.memory ?? 0) > 0 && limits.cpu === requests.cpu && limits.memory === requests.memory,
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}
