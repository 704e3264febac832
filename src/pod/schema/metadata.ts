import type { ObjectMeta } from "kubernetes-types/meta/v1.js";
import { z } from "zod";
import { dnsLabel, ignored, ofCluster, refused, stringMap } from "./field.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

const common = {
  namespace: dnsLabel.optional(),
  labels: stringMap.optional(),
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
  finalizers: ofCluster("nothing here removes them"),
  // Without a name it has made one (manifest/generated-name.ts); with a name it means nothing. Source: Kubernetes, ObjectMeta.generateName.
  generateName: ignored,
  ownerReferences: ofCluster("there is no owner that could be looked up"),
};

export const podMetadata = z.strictObject({ name: dnsLabel, ...common } satisfies Fields<ObjectMeta>);

export const SUBDOMAIN = /^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/;
/** Metadata of objects to which pods refer. */
export const objectMetadata = z.strictObject({
  name: z.string().regex(SUBDOMAIN, "use 1 to 253 of a-z 0-9 - ., with a letter or digit at both ends"),
  ...common,
} satisfies Fields<ObjectMeta>);

/** Of a kind that is in no namespace. Source: Kubernetes, ValidateObjectMeta. */
export const ofAllNamespaces = objectMetadata.extend({ namespace: z.literal("", "is in no namespace").optional() });
