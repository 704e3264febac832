import type { ObjectMeta } from "kubernetes-types/meta/v1.js";
import { z } from "zod";
import { dnsLabel, ignored, LEFT_OUT, labels, refused, refusedList, stringMap, subdomain, unlessEmpty } from "./field.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

/** Finalizers that controllers of a cluster write and remove themselves. */
const OF_CONTROLLERS: ReadonlySet<unknown> = new Set([
  "kubernetes.io/pvc-protection",
  "kubernetes.io/pv-protection",
  "service.kubernetes.io/load-balancer-cleanup",
  "batch.kubernetes.io/job-tracking",
]);

/** Whether finalizers ask for nothing that somebody would have to do here. */
export function areOfControllers(given: unknown): boolean {
  return Array.isArray(given) && given.every((one) => OF_CONTROLLERS.has(one));
}

const common = {
  namespace: unlessEmpty(dnsLabel),
  labels: labels.optional(),
  annotations: stringMap.optional(),
  uid: z.string().optional(),
  // A cluster adds these fields to the objects that it returns.
  creationTimestamp: ignored,
  resourceVersion: ignored,
  generation: ignored,
  managedFields: ignored,
  selfLink: ignored,
  deletionGracePeriodSeconds: refused("it is written by a cluster that deletes the object"),
  deletionTimestamp: refused("it is written by a cluster that deletes the object"),
  finalizers: z
    .custom<readonly string[]>(areOfControllers, { error: `is not supported: nothing here removes them; ${LEFT_OUT}` })
    .optional(),
  // Without a name it has made one (manifest/generated-name.ts); with a name it means nothing. Source: Kubernetes, ObjectMeta.generateName.
  generateName: ignored,
  ownerReferences: refusedList(`there is no owner that could be looked up; ${LEFT_OUT}`),
};

export const podMetadata = z.strictObject({ name: dnsLabel, ...common } satisfies Fields<ObjectMeta>);

/** Metadata of objects to which pods refer. */
export const objectMetadata = z.strictObject({
  name: subdomain,
  ...common,
} satisfies Fields<ObjectMeta>);

/** Of a kind that is in no namespace. Source: Kubernetes, ValidateObjectMeta. */
export const ofAllNamespaces = objectMetadata.extend({ namespace: z.literal("", "is in no namespace").optional() });
