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

/** How many values each operator has. Source: Kubernetes, ValidateNodeSelectorRequirement. */
const VALUES = {
  In: [1, Number.POSITIVE_INFINITY, "at least one value"],
  NotIn: [1, Number.POSITIVE_INFINITY, "at least one value"],
  Exists: [0, 0, "no value"],
  DoesNotExist: [0, 0, "no value"],
  Gt: [1, 1, "one value"],
  Lt: [1, 1, "one value"],
} as const;

const requirement = z
  .strictObject({
    key: z.string().min(1),
    operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]),
    values: z.array(z.string()).default([]),
  } satisfies Fields<NodeSelectorRequirement>)
  .superRefine(({ operator, values }, context) => {
    const [least, most, words] = VALUES[operator];
    if (values.length < least || values.length > most)
      context.addIssue({ code: "custom", path: ["values"], message: `${operator} needs ${words}` });
  });
/** Source: Kubernetes, ValidateNodeFieldSelectorRequirement. */
const fieldRequirement = requirement.refine(
  ({ key, operator, values }) => key === "metadata.name" && ["In", "NotIn"].includes(operator) && values.length === 1,
  "has to be the field metadata.name, with In or NotIn and one value",
);
const term = z.strictObject({
  matchExpressions: z.array(requirement).default([]),
  matchFields: z.array(fieldRequirement).default([]),
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

/** Source: Kubernetes, ValidateTopologySpreadConstraints. */
const constraint = z
  .strictObject({
    maxSkew: z.int().min(1),
    topologyKey: z.string().min(1),
    whenUnsatisfiable: z.enum(["DoNotSchedule", "ScheduleAnyway"]),
    labelSelector: labelSelector.optional(),
    minDomains: z.int().min(1).optional(),
    nodeAffinityPolicy: z.enum(["Honor", "Ignore"]).optional(),
    nodeTaintsPolicy: z.enum(["Honor", "Ignore"]).optional(),
    matchLabelKeys: z.array(z.string()).default([]),
  } satisfies Fields<TopologySpreadConstraint>)
  .refine(({ minDomains, whenUnsatisfiable: otherwise }) => minDomains === undefined || otherwise === "DoNotSchedule", {
    error: "is of DoNotSchedule only",
    path: ["minDomains"],
  })
  .refine(({ matchLabelKeys, labelSelector: selector }) => matchLabelKeys.length === 0 || selector !== undefined, {
    error: "needs a labelSelector",
    path: ["matchLabelKeys"],
  });

export const spread = z
  .array(constraint)
  .refine((all) => new Set(all.map((one) => `${one.topologyKey} ${one.whenUnsatisfiable}`)).size === all.length, {
    error: "has the same topologyKey with the same whenUnsatisfiable twice",
  });

export const placement = {
  affinity: affinity.optional(),
  nodeSelector: labels.optional(),
  topologySpreadConstraints: spread.default([]),
};

export type NodeRequirement = z.output<typeof requirement>;
export type NodeTerm = z.output<typeof term>;
export type SpreadConstraint = z.output<typeof spread>[number];
