/** Volumes of a pod. */
import type {
  ConfigMapProjection,
  ConfigMapVolumeSource,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  EmptyDirVolumeSource,
  EphemeralVolumeSource,
  HostPathVolumeSource,
  KeyToPath,
  PersistentVolumeClaimVolumeSource,
  ProjectedVolumeSource,
  SecretVolumeSource,
  Volume,
  VolumeProjection,
} from "kubernetes-types/core/v1.js";
import { z } from "zod";
import { ELSEWHERE, elsewhereFields, fullClaimSpec } from "./claim.ts";
import { fieldRef, resourceFieldRef } from "./env.ts";
import { dnsLabel, ignored, ofCluster, only, quantity, subdomain, wordOf } from "./field.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

const mode = z.int().min(0).max(0o777);
const optional = z.boolean().default(false);
const path = z
  .string()
  .refine((value) => value !== "" && !value.startsWith("/") && !value.split("/").includes(".."), "has to be a relative path without ..");
/** Newer than the types of Kubernetes 1.30, with which other schemas are compared. */
const owner = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)
  .optional();
type Owned<T> = T & { readonly user?: unknown };
type Owning<T> = T & { readonly defaultUser?: unknown };
const keyToPath = z.strictObject({ key: z.string().min(1), path, mode: mode.optional(), user: owner } satisfies Fields<Owned<KeyToPath>>);
const items = z.array(keyToPath).optional();

const NOT_HERE = "what is in it is not on this host; --ignore-cluster-fields takes an empty directory of the group in its place";
const projection = z.strictObject({ name: z.string().min(1), items, optional } satisfies Fields<ConfigMapProjection>);
const downwardFile = z
  .strictObject({
    path,
    fieldRef: fieldRef.optional(),
    resourceFieldRef: resourceFieldRef.optional(),
    mode: mode.optional(),
    user: owner,
  } satisfies Fields<Owned<DownwardAPIVolumeFile>>)
  .refine((one) => (one.fieldRef === undefined) !== (one.resourceFieldRef === undefined), "has to name exactly one source");

const sources = {
  emptyDir: z
    .strictObject({
      medium: z.enum(["", "Memory"], { error: "only Memory is supported beside the disk" }).default(""),
      sizeLimit: quantity.optional(),
      mode: only(0o777, "all users of the pod may write to it"),
    } satisfies Fields<EmptyDirVolumeSource & { mode?: unknown }>)
    .optional(),
  hostPath: z
    .strictObject({
      path: z.string().min(1),
      type: z.enum(["", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket", "CharDevice", "BlockDevice"]).default(""),
    } satisfies Fields<HostPathVolumeSource>)
    .optional(),
  configMap: z
    .strictObject({
      name: z.string().min(1),
      items,
      optional,
      defaultMode: mode.default(0o644),
      defaultUser: owner,
    } satisfies Fields<Owning<ConfigMapVolumeSource>>)
    .optional(),
  secret: z
    .strictObject({
      secretName: z.string().min(1),
      items,
      optional,
      defaultMode: mode.default(0o644),
      defaultUser: owner,
    } satisfies Fields<Owning<SecretVolumeSource>>)
    .optional(),
  downwardAPI: z
    .strictObject({
      items: z.array(downwardFile).default([]),
      defaultMode: mode.default(0o644),
      defaultUser: owner,
    } satisfies Fields<Owning<DownwardAPIVolumeSource>>)
    .optional(),
  projected: z
    .strictObject({
      defaultMode: mode.default(0o644),
      defaultUser: owner,
      sources: z
        .array(
          z.strictObject({
            configMap: projection.optional(),
            secret: projection.optional(),
            downwardAPI: z.strictObject({ items: z.array(downwardFile).default([]) }).optional(),
            serviceAccountToken: ofCluster("there is no cluster that would sign one"),
            clusterTrustBundle: ofCluster("there is no cluster that would have one"),
            podCertificate: ofCluster("there is no cluster that would sign one"),
          } satisfies Fields<VolumeProjection & { podCertificate?: unknown }>),
        )
        .default([]),
    } satisfies Fields<Owning<ProjectedVolumeSource>>)
    .optional(),
};

const claims = {
  persistentVolumeClaim: z
    .strictObject({
      claimName: subdomain,
      readOnly: z.boolean().default(false),
    } satisfies Fields<PersistentVolumeClaimVolumeSource>)
    .optional(),
  // The claim's directory belongs to the pod, and is removed with it.
  ephemeral: z
    .strictObject({
      volumeClaimTemplate: z.strictObject({ metadata: ignored, spec: fullClaimSpec }),
    } satisfies Fields<EphemeralVolumeSource>)
    .optional(),
  image: z
    .strictObject({
      reference: z.string().min(1),
      pullPolicy: wordOf(["Always", "IfNotPresent", "Never"]),
    } satisfies Record<"reference" | "pullPolicy", z.ZodType>)
    .optional(),
};

export const volume = z.strictObject({ name: dnsLabel, ...sources, ...claims, ...elsewhereFields(ELSEWHERE, NOT_HERE) } satisfies Fields<
  Volume & { image?: unknown }
>);

export type VolumeInput = z.output<typeof volume>;
export type KeyItem = z.output<typeof keyToPath>;
export type DownwardFile = z.output<typeof downwardFile>;
