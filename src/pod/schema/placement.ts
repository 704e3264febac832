/** Fields by which a scheduler of Kubernetes chooses the node of a pod. Whether this host satisfies them is checked later (manifest/placement.ts). */
import type {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  PreferredSchedulingTerm,
  TopologySpreadConstraint,
  WeightedPodAffinityTerm,
} from "kubernetes-types/core/v1.js";
import { z } from "zod";
import { labelSelector, labels } from "./field.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

const requirement = z.strictObject({
  key: z.string().min(1),
  operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]),
  values: z.array(z.string()).default([]),
} satisfies Fields<NodeSelectorRequirement>);
const term = z.strictObject({
  matchExpressions: z.array(requirement).default([]),
  matchFields: z.array(requirement).default([]),
} satisfies Fields<NodeSelectorTerm>);
const weight = z.int().min(1).max(100);

const nodeAffinity = z.strictObject({
  requiredDuringSchedulingIgnoredDuringExecution: z
    .strictObject({ nodeSelectorTerms: z.array(term).min(1) } satisfies Fields<NodeSelector>)
    .optional(),
  preferredDuringSchedulingIgnoredDuringExecution: z
    .array(z.strictObject({ weight, preference: term } satisfies Fields<PreferredSchedulingTerm>))
    .default([]),
} satisfies Fields<NodeAffinity>);

const podTerm = z.strictObject({
  labelSelector: labelSelector.optional(),
  namespaces: z.array(z.string()).default([]),
  namespaceSelector: labelSelector.optional(),
  topologyKey: z.string().min(1),
  matchLabelKeys: z.array(z.string()).default([]),
  mismatchLabelKeys: z.array(z.string()).default([]),
} satisfies Fields<PodAffinityTerm>);

const podAffinity = z.strictObject({
  requiredDuringSchedulingIgnoredDuringExecution: z.array(podTerm).default([]),
  preferredDuringSchedulingIgnoredDuringExecution: z
    .array(z.strictObject({ weight, podAffinityTerm: podTerm } satisfies Fields<WeightedPodAffinityTerm>))
    .default([]),
} satisfies Fields<PodAffinity>);

export const affinity = z.strictObject({
  nodeAffinity: nodeAffinity.optional(),
  podAffinity: podAffinity.optional(),
  podAntiAffinity: podAffinity.optional(),
} satisfies Fields<Affinity>);

export const spread = z.array(
  z.strictObject({
    maxSkew: z.int().min(1),
    topologyKey: z.string().min(1),
    whenUnsatisfiable: z.enum(["DoNotSchedule", "ScheduleAnyway"]),
    labelSelector: labelSelector.optional(),
    minDomains: z.int().min(1).optional(),
    nodeAffinityPolicy: z.enum(["Honor", "Ignore"]).optional(),
    nodeTaintsPolicy: z.enum(["Honor", "Ignore"]).optional(),
    matchLabelKeys: z.array(z.string()).default([]),
  } satisfies Fields<TopologySpreadConstraint>),
);

export const placement = {
  affinity: affinity.optional(),
  nodeSelector: labels.optional(),
  topologySpreadConstraints: spread.default([]),
};

export type NodeRequirement = z.output<typeof requirement>;
export type NodeTerm = z.output<typeof term>;
export type SpreadConstraint = z.output<typeof spread>[number];
