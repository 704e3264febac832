/** Expands a Deployment or Job to its pods on one host, which are named NAME-0, NAME-1 and so on. */
import type { Problem } from "../../engine/spec/index.ts";
import type { WorkloadInput } from "../schema/workload.ts";

/** Settings of a Job for each of its pods. */
export interface JobRules {
  /** How often a container is restarted after a failure. */
  readonly backoffLimit: number;
  /** Name of the task that must succeed before this one starts, which implements `parallelism`. */
  readonly after?: string;
  /** Seconds for which the pod is kept after its end. */
  readonly retention?: number;
}

export interface WorkloadPod {
  /** The pod as if it had been written in the file. */
  readonly written: Readonly<Record<string, unknown>>;
  readonly job?: JobRules;
}

/** Annotation of a pod that names its workload. */
const OWNER = "runt.dev/owner";

export function podsOf(workload: WorkloadInput): readonly WorkloadPod[] {
  const { kind, metadata, spec } = workload;
  const { labels, annotations } = spec.template.metadata ?? {};
  const name = (index: number) => `${metadata.name}-${index}`;
  const pod = (index: number) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: name(index),
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      ...(labels === undefined ? {} : { labels }),
      annotations: { ...annotations, [OWNER]: `${kind}/${metadata.name}` },
    },
    spec: spec.template.spec,
  });
  if (kind === "Deployment") return Array.from({ length: workload.spec.replicas }, (_, index) => ({ written: pod(index) }));
  const { completions, parallelism, backoffLimit, ttlSecondsAfterFinished: retention } = workload.spec;
  return Array.from({ length: completions }, (_, index) => ({
    written: pod(index),
    job: {
      backoffLimit,
      ...(index < parallelism ? {} : { after: name(index - parallelism) }),
      ...(retention === undefined ? {} : { retention }),
    },
  }));
}

export function workloadProblems({ kind, spec }: WorkloadInput): Problem[] {
  const wrong = (message: string, ...path: string[]): Problem => ({ code: "combination", message, path: ["spec", ...path] });
  const policy = spec.template.spec["restartPolicy"] ?? "Always";
  if (kind === "Job") return policy === "Always" ? [wrong("is OnFailure or Never in a job", "template", "spec", "restartPolicy")] : [];
  const labels = spec.template.metadata?.labels ?? {};
  const others = Object.entries(spec.selector.matchLabels ?? {}).filter(([key, value]) => labels[key] !== value);
  return [
    ...(policy === "Always" ? [] : [wrong("is Always in a deployment", "template", "spec", "restartPolicy")]),
    ...(others.length === 0 ? [] : [wrong("does not select the pods of the template", "selector")]),
  ];
}

/** Converts a path in a pod to a path in the workload's document. */
export function pathInWorkload([first, ...rest]: Problem["path"]): Problem["path"] {
  if (first === "metadata" && rest[0] === "name") return ["metadata", "name"];
  return ["spec", "template", ...(first === undefined ? [] : [first]), ...rest];
}
