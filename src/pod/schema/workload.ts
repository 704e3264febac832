/** Documents of kind Deployment and Job, as far as they apply to one host. The compiler compares the lists of fields with the types of Kubernetes. */
import type { Deployment, DeploymentSpec, DeploymentStrategy } from "kubernetes-types/apps/v1.js";
import type { Job, JobSpec } from "kubernetes-types/batch/v1.js";
import { z } from "zod";
import { ignored, only, refused, seconds, stringMap } from "./field.ts";
import { podMetadata } from "./metadata.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

const MOST_PODS = 100;
const count = z.int().min(0).max(MOST_PODS);

/** The template is parsed as a pod later. */
const template = z.strictObject({
  metadata: z.strictObject({ labels: stringMap.optional(), annotations: stringMap.optional(), creationTimestamp: ignored }).optional(),
  spec: z.record(z.string(), z.unknown()),
});
const selector = z.strictObject({ matchLabels: stringMap.optional(), matchExpressions: refused("write matchLabels") });

const ROLLING = "a pod is stopped before another one takes its place";

export const deployment = z.strictObject({
  apiVersion: z.literal("apps/v1"),
  kind: z.literal("Deployment"),
  metadata: podMetadata,
  spec: z.strictObject({
    replicas: count.default(1),
    selector,
    template,
    strategy: z
      .strictObject({ type: only("Recreate", ROLLING), rollingUpdate: refused(ROLLING) } satisfies Fields<DeploymentStrategy>)
      .optional(),
    minReadySeconds: only(0, ROLLING),
    paused: only(false, "an apply takes effect at once"),
    // Both concern rolling updates.
    progressDeadlineSeconds: ignored,
    revisionHistoryLimit: ignored,
  } satisfies Fields<DeploymentSpec>),
  status: ignored,
} satisfies Fields<Deployment>);

const BY_INDEX = "pods have no indices";

export const job = z.strictObject({
  apiVersion: z.literal("batch/v1"),
  kind: z.literal("Job"),
  metadata: podMetadata,
  spec: z.strictObject({
    template,
    completions: count.min(1).default(1),
    parallelism: count.min(1).default(1),
    backoffLimit: z.int().min(0).max(1_000_000).default(6),
    ttlSecondsAfterFinished: seconds(0).optional(),
    completionMode: only("NonIndexed", BY_INDEX),
    suspend: only(false, "an apply takes effect at once"),
    // A cluster adds them.
    selector: ignored,
    manualSelector: only(false, "the pods of a job are its own"),
    podReplacementPolicy: ignored,
    activeDeadlineSeconds: refused("a pod runs until it ends or is stopped"),
    backoffLimitPerIndex: refused(BY_INDEX),
    maxFailedIndexes: refused(BY_INDEX),
    podFailurePolicy: refused("every failure counts"),
    successPolicy: refused("all completions count"),
    managedBy: refused("there is no other controller"),
  } satisfies Fields<JobSpec>),
  status: ignored,
} satisfies Fields<Job>);

export type WorkloadInput = z.output<typeof deployment> | z.output<typeof job>;
