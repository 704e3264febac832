/** Expands a document with a template to its pods on this host, which are named NAME-0, NAME-1 and so on. */

import { createHash } from "node:crypto";
import type { z } from "zod";
import { type Problem, placeholder, runTimeLength, type TaskInput } from "../../engine/spec/index.ts";
import { isObject } from "../../shared/text/index.ts";
import type { labelSelector } from "../schema/field.ts";
import type { WorkloadInput } from "../schema/workload.ts";
import { updateOfDeployment, updateOfStatefulSet } from "./strategy.ts";

/** Settings of a workload for one of its pods. */
export interface PodRules {
  /** For a Job: how often a container is restarted after a failure. */
  readonly backoffLimit?: number;
  /** The task before this one: it must have succeeded (`parallelism` of a Job), or be ready (a StatefulSet). */
  readonly after?: { readonly task: string; readonly hasSucceeded: boolean };
  /** Maximum duration in seconds. */
  readonly deadline?: number;
  /** Seconds for which a finished pod is kept. */
  readonly retention?: number;
  /** How the pods of a Deployment or StatefulSet are replaced by those of another version. */
  readonly rollout?: Pick<TaskInput, "update" | "replica">;
  /** For a CronJob: its name, and when its pods run. */
  readonly schedule?: { readonly name: string; readonly spec: NonNullable<TaskInput["schedule"]> };
}

export interface WorkloadPod {
  /** The pod as if it had been written in the file. */
  readonly written: Readonly<Record<string, unknown>>;
  readonly rules: PodRules;
}

/** Annotation of a pod that names its workload. */
const OWNER = "runt.dev/owner";

export function podsOf(workload: WorkloadInput): readonly WorkloadPod[] {
  if (workload.kind === "CronJob") return [scheduledPod(workload)];
  const { metadata } = workload;
  const name = (index: number) => `${metadata.name}-${index}`;
  const pod = (index: number) => podOf(workload, index);
  const several = (count: number, made: (index: number) => WorkloadPod) => Array.from({ length: count }, (_, index) => made(index));
  switch (workload.kind) {
    case "Deployment":
      return several(workload.spec.replicas, (index) => replicaOf(workload, index));
    case "ReplicaSet":
    case "ReplicationController":
      return several(workload.spec.replicas, (index) => ({ written: pod(index), rules: {} }));
    case "DaemonSet":
      return [{ written: pod(0), rules: {} }];
    case "StatefulSet": {
      const { start } = workload.spec.ordinals;
      return several(workload.spec.replicas, (at) => replicaOf(workload, start + at, at === 0 ? undefined : start + at - 1));
    }
    case "Job": {
      const { parallelism, backoffLimit, ttlSecondsAfterFinished: retention, activeDeadlineSeconds: deadline } = workload.spec;
      // Without `completions` there are `parallelism` pods, which together work until nothing is left to do. Source: Kubernetes, "Parallel
      // execution for Jobs".
      const { completions = parallelism, completionMode, suspend } = workload.spec;
      if (suspend || parallelism === 0) return [];
      return several(completions, (index) => ({
        written: completionMode === "Indexed" ? indexed(pod(index), index) : pod(index),
        rules: {
          backoffLimit,
          ...(deadline === undefined ? {} : { deadline }),
          ...(index < parallelism ? {} : { after: { task: name(index - parallelism), hasSucceeded: true } }),
          ...(retention === undefined ? {} : { retention }),
        },
      }));
    }
  }
}

function podOf(
  { kind, metadata, spec }: Exclude<WorkloadInput, { kind: "CronJob" }>,
  index: number | string,
  further: Readonly<Record<string, unknown>> = {},
) {
  const { labels, annotations } = spec.template.metadata ?? {};
  const own = ownLabels(kind, metadata.name, index);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${metadata.name}-${index}`,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      ...(labels === undefined && own === undefined ? {} : { labels: { ...labels, ...own } }),
      annotations: { ...annotations, [OWNER]: `${kind}/${metadata.name}` },
    },
    spec: { ...spec.template.spec, ...further },
  };
}

/** Labels that a controller adds to its pods. Source: Kubernetes, "Well-Known Labels, Annotations and Taints". */
function ownLabels(kind: WorkloadInput["kind"], name: string, index: number | string): Readonly<Record<string, string>> | undefined {
  if (kind === "StatefulSet")
    return { "statefulset.kubernetes.io/pod-name": `${name}-${index}`, "apps.kubernetes.io/pod-index": String(index) };
  return kind === "Job" ? { "batch.kubernetes.io/job-name": name, "job-name": name } : undefined;
}

/** A pod of a workload with rollouts. A text is a placeholder. @param before index of the pod before it; undefined: it is the first one */
function replicaOf(
  workload: Extract<WorkloadInput, { kind: "Deployment" | "StatefulSet" }>,
  index: number | string,
  before?: number | string,
): WorkloadPod {
  const { metadata } = workload;
  const name = (at: number | string) => `${metadata.name}-${at}`;
  const replica = { of: metadata.name, index: typeof index === "number" ? index : 0 };
  if (workload.kind === "Deployment")
    return { written: podOf(workload, index), rules: { rollout: { update: updateOfDeployment(workload.spec), replica } } };
  const { podManagementPolicy, volumeClaimTemplates, template } = workload.spec;
  const claims = volumeClaimTemplates.map(({ metadata: { name: volume } }) => ({
    name: volume,
    persistentVolumeClaim: { claimName: `${volume}-${name(index)}` },
  }));
  const isOrdered = podManagementPolicy === "OrderedReady" && before !== undefined;
  const volumes = claims.length === 0 ? {} : { volumes: [...withoutClaimed(template.spec, claims), ...claims] };
  return {
    written: podOf(workload, index, volumes),
    rules: {
      rollout: { update: updateOfStatefulSet(workload.spec), replica },
      ...(isOrdered ? { after: { task: name(before), hasSucceeded: false } } : {}),
    },
  };
}

/** A pod from which the engine can make further ones. */
export interface WorkloadTemplate extends WorkloadPod {
  /** What stands for its index, and for that of the pod before it. */
  readonly index: string;
  readonly before: string;
}

/** undefined: the number of its pods is that of the file. */
export function templateOf(workload: WorkloadInput): WorkloadTemplate | undefined {
  if (workload.kind !== "Deployment" && workload.kind !== "StatefulSet") return undefined;
  const { name, namespace } = workload.metadata;
  const [index, before] = [placeholder(`${namespace} ${name}`), placeholder(`${namespace} ${name} before`)];
  return { ...replicaOf(workload, index, before), index, before };
}

type CronJobInput = Extract<WorkloadInput, { kind: "CronJob" }>;

const OVERLAP = { Allow: "allow", Forbid: "forbid", Replace: "replace" } as const;

/** The first pod of a CronJob's job, as a template. Its name, its index and all values made of them are placeholders, which each run replaces. */
function scheduledPod({ metadata, spec, ...rest }: CronJobInput): WorkloadPod {
  const { jobTemplate, schedule: cron, timeZone, concurrencyPolicy, startingDeadlineSeconds, suspend } = spec;
  const digest = createHash("sha256")
    .update(JSON.stringify([metadata.name, spec]))
    .digest("hex");
  // The placeholder is as long as the minutes since the epoch.
  const placeholders = { minutes: `x${digest.slice(0, 7)}`, index: `x${digest.slice(8, 15)}` };
  const { completions, parallelism } = jobTemplate.spec;
  const copies = completions ?? parallelism;
  const job = {
    ...jobTemplate,
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { ...metadata, name: `${metadata.name}-${placeholders.minutes}` },
  } as const;
  const [pod] = podsOf({
    ...job,
    spec: { ...jobTemplate.spec, completions: 1, parallelism: 1, suspend: false, completionMode: "NonIndexed" },
  });
  const written = pod!.written as unknown as Written;
  return {
    written: jobTemplate.spec.completionMode === "Indexed" ? indexed(written, placeholders.index) : written,
    rules: {
      ...pod!.rules,
      schedule: {
        name: metadata.name,
        spec: {
          ...{ cron, overlap: OVERLAP[concurrencyPolicy], suspended: suspend, copies, placeholders },
          ...(timeZone === undefined ? {} : { timeZone }),
          ...(startingDeadlineSeconds === undefined ? {} : { startWithin: startingDeadlineSeconds }),
          ...(parallelism < copies ? { atOnce: parallelism } : {}),
          ...{ keepSucceeded: spec.successfulJobsHistoryLimit, keepFailed: spec.failedJobsHistoryLimit },
          document: JSON.stringify({ ...rest, metadata, spec }),
        },
      },
    },
  };
}

interface Written extends Readonly<Record<string, unknown>> {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec: Readonly<Record<string, unknown>>;
}

const INDEX = "batch.kubernetes.io/job-completion-index";

/** Adds the index of a pod to its containers as a variable. Source: Kubernetes, "Completion mode". */
function indexed(pod: Written, index: number | string): Written {
  const { annotations, labels } = pod.metadata as { readonly annotations?: object; readonly labels?: object };
  const own = { [INDEX]: String(index) };
  const variable = { name: "JOB_COMPLETION_INDEX", value: String(index) };
  const withVariable = (list: unknown): unknown =>
    Array.isArray(list) ? list.map((one: unknown) => (isObject(one) ? { ...one, env: [...listIn(one), variable] } : one)) : list;
  const containers = ["containers", "initContainers"].flatMap((field) => {
    const list = pod.spec[field];
    return list === undefined ? [] : [[field, withVariable(list)]];
  });
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations: { ...annotations, ...own }, labels: { ...labels, ...own } },
    spec: { ...pod.spec, ...Object.fromEntries(containers) },
  };
}

/** A value that is no list is kept, so that it is refused at its place. */
function listIn({ env }: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Array.isArray(env) ? env : env === undefined ? [] : [env];
}

/** Volumes of the template without those that a claim of the same name replaces. Source: Kubernetes, StatefulSetSpec, volumeClaimTemplates. */
function withoutClaimed({ volumes }: Readonly<Record<string, unknown>>, claims: readonly { readonly name: string }[]): unknown[] {
  if (!Array.isArray(volumes)) return volumes === undefined ? [] : [volumes];
  return volumes.filter((one: unknown) => !claims.some(({ name }) => name === (one as { name?: unknown } | null)?.name));
}

const NO_JOB = "is OnFailure or Never in a job";

export function workloadProblems(workload: WorkloadInput): Problem[] {
  if (workload.kind === "CronJob") return cronJobProblems(workload);
  const { kind, spec } = workload;
  const wrong = (message: string, ...path: string[]): Problem => ({ code: "combination", message, path: ["spec", ...path] });
  const policy = spec.template.spec["restartPolicy"] ?? "Always";
  if (kind === "Job")
    return [...jobProblems(workload.spec, ["spec"]), ...(policy === "Always" ? [wrong(NO_JOB, "template", "spec", "restartPolicy")] : [])];
  const labels = spec.template.metadata?.labels ?? {};
  const selected =
    workload.kind === "ReplicationController"
      ? (workload.spec.selector ?? {})
      : (workload.spec as { selector: { matchLabels?: Labels } }).selector.matchLabels;
  // Without a selector the labels of the template are used. Source: Kubernetes, ValidateReplicationControllerSpec.
  if (workload.kind === "ReplicationController" && Object.keys(workload.spec.selector ?? labels).length === 0)
    return [wrong("needs a selector, or labels of the template", "selector")];
  const given = workload.kind === "ReplicationController" ? {} : (workload.spec.selector as Selector);
  // Source: Kubernetes, ValidateDeploymentSpec and those of the others.
  if (
    workload.kind !== "ReplicationController" &&
    [given.matchLabels ?? {}, given.matchExpressions ?? []].every((one) => Object.keys(one).length === 0)
  )
    return [wrong("is empty: it has to select the pods of the template", "selector")];
  const isMissing = Object.entries(selected ?? {}).some(([key, value]) => labels[key] !== value);
  const { matchExpressions = [] } = given;
  const isSelected = !isMissing && matchExpressions.every((one) => holds(one, labels));
  return [
    ...(policy === "Always" ? [] : [wrong(`is Always in a ${kind}`, "template", "spec", "restartPolicy")]),
    ...(isSelected ? [] : [wrong("does not select the pods of the template", "selector")]),
  ];
}

/** Source: ValidateJobSpec of Kubernetes. */
function jobProblems({ completionMode, completions }: Extract<WorkloadInput, { kind: "Job" }>["spec"], path: readonly string[]): Problem[] {
  if (completionMode !== "Indexed" || completions !== undefined) return [];
  return [{ code: "combination", message: "is needed with the mode Indexed", path: [...path, "completions"] }];
}

const MOST_NAME = 63;

function cronJobProblems({ metadata: { name }, spec: { schedule, jobTemplate } }: CronJobInput): Problem[] {
  const { completions, parallelism, template } = jobTemplate.spec;
  const policy = template.spec["restartPolicy"] ?? "Always";
  const [path, last] = [["spec", "jobTemplate", "spec"], String((completions ?? parallelism) - 1)];
  const isSuspended = jobTemplate.spec.suspend || parallelism === 0;
  const isLong = `${name}--${last}`.length + runTimeLength(schedule) > MOST_NAME;
  return [
    ...jobProblems(jobTemplate.spec, path),
    ...(isSuspended ? [{ code: "combination" as const, message: "its jobs would have no pods", path }] : []),
    ...(policy === "Always"
      ? [{ code: "combination" as const, message: NO_JOB, path: [...path, "template", "spec", "restartPolicy"] }]
      : []),
    ...(isLong
      ? [
          {
            code: "limit" as const,
            message: `the names of its pods would be longer than ${MOST_NAME} characters`,
            path: ["metadata", "name"],
          },
        ]
      : []),
  ];
}

type Labels = Readonly<Record<string, string>>;
type Selector = z.output<typeof labelSelector>;

/** Source: Kubernetes, "Labels and Selectors", "Resources that support set-based requirements". */
function holds({ key, operator, values }: NonNullable<Selector["matchExpressions"]>[number], labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
  }
}

/** Converts a path in a pod to a path in the document of a workload of this kind. */
export function pathInWorkload(kind: WorkloadInput["kind"], [first, ...rest]: Problem["path"]): Problem["path"] {
  if (first === "metadata" && rest[0] === "name") return ["metadata", "name"];
  const template = kind === "CronJob" ? ["spec", "jobTemplate", "spec", "template"] : ["spec", "template"];
  return [...template, ...(first === undefined ? [] : [first]), ...rest];
}
