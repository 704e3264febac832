/** A document of kind Pod, with every field of Kubernetes 1.30: the compiler compares the list with the types of Kubernetes. */
import type { HostAlias, LocalObjectReference, Pod, PodDNSConfig, PodDNSConfigOption, PodOS, PodSpec } from "kubernetes-types/core/v1.js";
import { z } from "zod";
import { RUNTIME_NAME } from "../../engine/spec/index.ts";
import { container, initContainer, podResources } from "./container.ts";
import { dnsLabel, ignored, LEFT_OUT, only, refused, refusedList, SUBDOMAIN, seconds, subdomain, unlessEmpty, wordOr } from "./field.ts";
import { podMetadata } from "./metadata.ts";
import { placement } from "./placement.ts";
import { podSecurityContext } from "./security.ts";
import { volume } from "./volume.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

const ONE_HOST = "there is one host, and nothing to choose from";
const NO_CLUSTER = "there is no cluster";

const hostAlias = z.strictObject({
  ip: z.union([z.ipv4(), z.ipv6()], { error: "is no IP address" }),
  hostnames: z.array(z.string().min(1)).default([]),
} satisfies Fields<HostAlias>);

const dnsConfig = z.strictObject({
  nameservers: z
    .array(z.union([z.ipv4(), z.ipv6()], { error: "is no IP address" }))
    .max(3)
    .default([]),
  searches: z
    .array(z.string().regex(/^[A-Za-z0-9_.-]{1,253}$/, "is no domain name"))
    .max(32)
    .default([]),
  options: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-z0-9-]+$/, "is no option of resolv.conf"),
        value: z
          .string()
          .regex(/^[a-z0-9]*$/, "is no value of an option")
          .optional(),
      } satisfies Fields<PodDNSConfigOption>),
    )
    .default([]),
} satisfies Fields<PodDNSConfig>);

const runs = {
  activeDeadlineSeconds: seconds(1).optional(),
  imagePullSecrets: z.array(z.strictObject({ name: subdomain } satisfies Fields<LocalObjectReference>)).default([]),
  resources: podResources.optional(),
  dnsPolicy: wordOr(["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"], "ClusterFirst"),
  dnsConfig: dnsConfig.optional(),
  containers: z.array(container).min(1, "a pod has at least one container"),
  initContainers: z.array(initContainer).default([]),
  volumes: z.array(volume).default([]),
  restartPolicy: wordOr(["Always", "OnFailure", "Never"], "Always"),
  terminationGracePeriodSeconds: seconds(0).default(30),
  securityContext: podSecurityContext.optional(),
  shareProcessNamespace: z.boolean().default(false),
  hostNetwork: z.boolean().default(false),
  hostPID: z.boolean().default(false),
  hostIPC: z.boolean().default(false),
  hostUsers: z.boolean().default(true),
  runtimeClassName: z.string().regex(RUNTIME_NAME, "is no name of a runtime class").optional(),
  hostAliases: z.array(hostAlias).default([]),
  hostname: unlessEmpty(dnsLabel),
  subdomain: unlessEmpty(dnsLabel),
  nodeName: unlessEmpty(z.string()),
  os: z.strictObject({ name: only("linux", "this is Linux") } satisfies Fields<PodOS>).optional(),
};

/** Fields that are accepted with any value, or with the value that describes this host. */
const holdAnyway = {
  automountServiceAccountToken: z.boolean().optional(),
  enableServiceLinks: z.boolean().optional(),
  tolerations: ignored,
  setHostnameAsFQDN: only(false, "a pod has no domain"),
};

const notHere = {
  ephemeralContainers: refusedList("use runtctl exec"),
  resourceClaims: refusedList("there are no devices to claim"),
  schedulingGates: refusedList("nothing here would remove them"),
  hostnameOverride: refused("write hostname, which is what the containers see"),
};

const WHO_FIRST = "pods start in the order in which they were applied";

/** Fields without a meaning on one host. With `--ignore-cluster-fields` each is left out with a warning. */
export const CLUSTER_FIELDS = {
  affinity: ONE_HOST,
  evictionResponders: "no pod is evicted on request",
  nodeSelector: ONE_HOST,
  overhead: "the runtime's own share is not counted",
  preemptionPolicy: "no pod takes the place of another one",
  priority: WHO_FIRST,
  priorityClassName: WHO_FIRST,
  readinessGates: "nothing sets conditions from outside",
  schedulerName: ONE_HOST,
  schedulingGroup: ONE_HOST,
  serviceAccount: NO_CLUSTER,
  serviceAccountName: NO_CLUSTER,
  topologySpreadConstraints: ONE_HOST,
} as const;

/** Classes that each cluster has, and their priorities. Source: Kubernetes, SystemPriorityClasses. */
export const SYSTEM_CLASSES: ReadonlyMap<string, number> = new Map([
  ["system-cluster-critical", 2_000_000_000],
  ["system-node-critical", 2_000_001_000],
]);

/** Values that ask for nothing special, as an API server fills them in by default. */
const SAYS_NOTHING: Readonly<Record<string, readonly unknown[]>> = {
  preemptionPolicy: ["", "PreemptLowerPriority"],
  priority: [0, ...SYSTEM_CLASSES.values()],
  priorityClassName: ["", ...SYSTEM_CLASSES.keys()],
  schedulerName: ["", "default-scheduler"],
  serviceAccount: ["", "default"],
  serviceAccountName: ["", "default"],
};

/** Whether a host without a cluster satisfies a field of CLUSTER_FIELDS that does not depend on the host (manifest/placement.ts). */
export function isHeld(field: string, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return SAYS_NOTHING[field]?.includes(value) ?? false;
  return Object.keys(value).length === 0;
}

/** Whether Kubernetes accepts the value of a field of CLUSTER_FIELDS. Those that are texts are names. */
export function isTaken(value: unknown): boolean {
  return typeof value !== "string" || SUBDOMAIN.test(value);
}

const unlessHeld = (field: string, why: string) =>
  z
    .custom((value) => isHeld(field, value), {
      error: ({ input }) => (isTaken(input) ? `is not supported: ${why}; ${LEFT_OUT}` : "is no name that Kubernetes takes"),
    })
    .optional();
const ofOneHost = Object.fromEntries(Object.entries(CLUSTER_FIELDS).map(([field, why]) => [field, unlessHeld(field, why)])) as Record<
  keyof typeof CLUSTER_FIELDS,
  ReturnType<typeof unlessHeld>
>;

const account = unlessEmpty(z.string().regex(SUBDOMAIN, "is no name that Kubernetes takes"));
/** Whether they can be satisfied is known when the whole file is (manifest/accounts.ts). */
const ofFile = { serviceAccount: account, serviceAccountName: account };

/** Fields that Kubernetes has added since 1.30. */
type Newer = Record<"evictionResponders" | "hostnameOverride" | "resources" | "schedulingGroup", unknown>;

export const pod = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("Pod"),
  metadata: podMetadata,
  spec: z.strictObject({ ...runs, ...holdAnyway, ...notHere, ...ofOneHost, ...placement, ...ofFile } satisfies Fields<PodSpec & Newer>),
  // A cluster adds the status to the pods that it returns.
  status: ignored,
} satisfies Fields<Pod>);

export type PodInput = z.output<typeof pod>;
