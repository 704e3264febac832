/**
 * Workloads: documents with a template for pods, as far as they apply to one host. The compiler compares the lists of fields with the types of
 * Kubernetes.
 */
import type {
  DaemonSet,
  DaemonSetSpec,
  DaemonSetUpdateStrategy,
  Deployment,
  DeploymentSpec,
  DeploymentStrategy,
  ReplicaSet,
  ReplicaSetSpec,
  StatefulSet,
  StatefulSetOrdinals,
  StatefulSetPersistentVolumeClaimRetentionPolicy,
  StatefulSetSpec,
  StatefulSetUpdateStrategy,
} from "kubernetes-types/apps/v1.js";
import type { CronJob, CronJobSpec, Job, JobSpec, JobTemplateSpec } from "kubernetes-types/batch/v1.js";
import type { ReplicationController, ReplicationControllerSpec } from "kubernetes-types/core/v1.js";
import { z } from "zod";
import { isTimeZone, scheduleError } from "../../engine/spec/index.ts";
import { claimSpec } from "./claim.ts";
import { dnsLabel, ignored, labelSelector, labels, only, refused, seconds, stringMap, wordOr } from "./field.ts";
import { podMetadata } from "./metadata.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

const MOST_PODS = 100;
const count = z.int().min(0).max(MOST_PODS);

/** The template is parsed later, as a pod. */
const template = z.strictObject({
  // The name of the template is ignored, because each pod has a name of its own.
  metadata: z
    .strictObject({
      labels: labels.optional(),
      annotations: stringMap.optional(),
      creationTimestamp: ignored,
      name: ignored,
      generateName: ignored,
      namespace: ignored,
    })
    .optional(),
  spec: z.record(z.string(), z.unknown()),
});

/** In seconds: the longest time that a rollout of the engine waits. */
export const MOST_READY = 86_400;
/** Of a Deployment: it has no deadline. Source: Kubernetes, HasProgressDeadline. */
const MOST_DEADLINE = 2 ** 31 - 1;
const NOT_PAUSED = "an apply takes effect at once";
/** A number of pods, or a percentage. */
const share = z.union([z.int().min(0), z.string().regex(/^\d+%$/, 'write a number of pods or a part like "25%"')]).optional();

export const deployment = z.strictObject({
  apiVersion: z.literal("apps/v1"),
  kind: z.literal("Deployment"),
  metadata: podMetadata,
  spec: z.strictObject({
    replicas: count.default(1),
    selector: labelSelector,
    template,
    strategy: z
      .strictObject({
        type: wordOr(["RollingUpdate", "Recreate"], "RollingUpdate"),
        rollingUpdate: z
          .strictObject({ maxSurge: share, maxUnavailable: share })
          // Source: ValidateRollingUpdateDeployment of Kubernetes.
          .refine((one) => ![one.maxSurge, one.maxUnavailable].every((some) => some === 0 || some === "0%"), {
            error: "maxSurge and maxUnavailable are both 0: no pod could be replaced",
          })
          .optional(),
      } satisfies Fields<DeploymentStrategy>)
      .refine(({ type, rollingUpdate }) => type !== "Recreate" || rollingUpdate === undefined, {
        error: "is for the type RollingUpdate",
        path: ["rollingUpdate"],
      })
      .prefault({}),
    minReadySeconds: seconds(0).max(MOST_READY).default(0),
    paused: only(false, NOT_PAUSED),
    progressDeadlineSeconds: z.int().min(1).max(MOST_DEADLINE).default(600),
    // Ten versions are kept.
    revisionHistoryLimit: ignored,
  } satisfies Fields<DeploymentSpec>),
  status: ignored,
} satisfies Fields<Deployment>);

export const replicaSet = z.strictObject({
  apiVersion: z.literal("apps/v1"),
  kind: z.literal("ReplicaSet"),
  metadata: podMetadata,
  spec: z.strictObject({
    replicas: count.default(1),
    selector: labelSelector,
    template,
    minReadySeconds: seconds(0).default(0),
  } satisfies Fields<ReplicaSetSpec>),
  status: ignored,
} satisfies Fields<ReplicaSet>);

export const replicationController = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("ReplicationController"),
  metadata: podMetadata,
  spec: z.strictObject({
    replicas: count.default(1),
    // Absent: the labels of the template.
    selector: labels.optional(),
    template,
    minReadySeconds: seconds(0).default(0),
  } satisfies Fields<ReplicationControllerSpec>),
  status: ignored,
} satisfies Fields<ReplicationController>);

/** A DaemonSet makes one pod, because this host is the only node. */
export const daemonSet = z.strictObject({
  apiVersion: z.literal("apps/v1"),
  kind: z.literal("DaemonSet"),
  metadata: podMetadata,
  spec: z.strictObject({
    selector: labelSelector,
    template,
    updateStrategy: z
      .strictObject({
        type: wordOr(["RollingUpdate", "OnDelete"], "RollingUpdate", "is RollingUpdate or OnDelete"),
        rollingUpdate: z.strictObject({ maxSurge: share, maxUnavailable: share }).optional(),
      } satisfies Fields<DaemonSetUpdateStrategy>)
      .prefault({}),
    minReadySeconds: seconds(0).default(0),
    revisionHistoryLimit: ignored,
  } satisfies Fields<DaemonSetSpec>),
  status: ignored,
} satisfies Fields<DaemonSet>);

const KEPT = "the directory of a claim stays until a user removes it";

export const statefulSet = z.strictObject({
  apiVersion: z.literal("apps/v1"),
  kind: z.literal("StatefulSet"),
  metadata: podMetadata,
  spec: z.strictObject({
    replicas: count.default(1),
    selector: labelSelector,
    template,
    serviceName: z.string().default(""),
    podManagementPolicy: wordOr(["OrderedReady", "Parallel"], "OrderedReady"),
    ordinals: z.strictObject({ start: z.int().min(0).max(1_000_000).default(0) } satisfies Fields<StatefulSetOrdinals>).prefault({}),
    volumeClaimTemplates: z
      .array(
        z.strictObject({
          apiVersion: z.literal("v1").optional(),
          kind: z.literal("PersistentVolumeClaim").optional(),
          metadata: z.strictObject({
            name: dnsLabel,
            labels: labels.optional(),
            annotations: stringMap.optional(),
            creationTimestamp: ignored,
            // A cluster puts that of the pods in its place.
            namespace: ignored,
          }),
          spec: claimSpec,
          status: ignored,
        }),
      )
      .default([]),
    updateStrategy: z
      .strictObject({
        type: wordOr(["RollingUpdate", "OnDelete"], "RollingUpdate", "is RollingUpdate or OnDelete"),
        rollingUpdate: z.strictObject({ partition: z.int().min(0).max(2_000_000).default(0), maxUnavailable: share }).optional(),
      } satisfies Fields<StatefulSetUpdateStrategy>)
      .optional(),
    persistentVolumeClaimRetentionPolicy: z
      .strictObject({
        whenDeleted: only("Retain", KEPT),
        whenScaled: only("Retain", KEPT),
      } satisfies Fields<StatefulSetPersistentVolumeClaimRetentionPolicy>)
      .optional(),
    minReadySeconds: seconds(0).max(MOST_READY).default(0),
    revisionHistoryLimit: ignored,
  } satisfies Fields<StatefulSetSpec>),
  status: ignored,
} satisfies Fields<StatefulSet>);

const BY_INDEX = "failures are counted for all indices together";

const jobSpec = z.strictObject({
  template,
  completions: count.min(1).optional(),
  parallelism: count.default(1),
  backoffLimit: z.int().min(0).max(1_000_000).default(6),
  ttlSecondsAfterFinished: seconds(0).optional(),
  completionMode: z.enum(["NonIndexed", "Indexed"]).default("NonIndexed"),
  suspend: z.boolean().default(false),
  // A cluster adds the selector.
  selector: ignored,
  manualSelector: only(false, "the pods of a job are its own"),
  podReplacementPolicy: ignored,
  activeDeadlineSeconds: seconds(1).optional(),
  backoffLimitPerIndex: refused(BY_INDEX),
  maxFailedIndexes: refused(BY_INDEX),
  podFailurePolicy: refused("every failure counts"),
  successPolicy: refused("all completions count"),
  managedBy: refused("there is no other controller"),
  scheduling: refused("its pods start as soon as they fit on this host"),
} satisfies Fields<JobSpec & { scheduling?: unknown }>);

export const job = z.strictObject({
  apiVersion: z.literal("batch/v1"),
  kind: z.literal("Job"),
  metadata: podMetadata,
  spec: jobSpec,
  status: ignored,
} satisfies Fields<Job>);

/** Source: Kubernetes, ValidateCronJobCreate: the name of a job has eleven characters more. */
const MOST_CRON_JOB_NAME = 52;
const limit = z.int().min(0).max(1000);

export const cronJob = z.strictObject({
  apiVersion: z.literal("batch/v1"),
  kind: z.literal("CronJob"),
  metadata: podMetadata.extend({
    name: dnsLabel.max(MOST_CRON_JOB_NAME, `is longer than ${MOST_CRON_JOB_NAME} characters: its jobs have longer names`),
  }),
  spec: z.strictObject({
    schedule: z
      .string({ error: 'is an expression such as "*/5 * * * *"' })
      .min(1)
      .superRefine((text, context) => {
        const message = scheduleError(text);
        if (message !== undefined) context.addIssue({ code: "custom", message });
      }),
    timeZone: z
      .string()
      .refine((zone) => zone.toLowerCase() !== "local" && isTimeZone(zone), "there is no such time zone")
      .optional(),
    concurrencyPolicy: wordOr(["Allow", "Forbid", "Replace"], "Allow"),
    startingDeadlineSeconds: seconds(0).optional(),
    suspend: z.boolean().default(false),
    successfulJobsHistoryLimit: limit.default(3),
    failedJobsHistoryLimit: limit.default(1),
    jobTemplate: z.strictObject({ metadata: template.shape.metadata, spec: jobSpec } satisfies Fields<JobTemplateSpec>),
  } satisfies Fields<CronJobSpec>),
  status: ignored,
} satisfies Fields<CronJob>);

export const workloads = {
  Deployment: deployment,
  ReplicaSet: replicaSet,
  ReplicationController: replicationController,
  DaemonSet: daemonSet,
  StatefulSet: statefulSet,
  Job: job,
  CronJob: cronJob,
} as const;

export type WorkloadInput = z.output<(typeof workloads)[keyof typeof workloads]>;
