/** Claims, and the volumes for them. A claim without such a volume is a directory of this host. */
import type {
  HostPathVolumeSource,
  LocalVolumeSource,
  ObjectReference,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  PersistentVolumeSpec,
  Volume,
  VolumeResourceRequirements,
} from "kubernetes-types/core/v1.js";
import { z } from "zod";
import { isObject } from "../../shared/text/index.ts";
import { ignored, labels, only, quantity, refused, refusedList, refusedText, wordOf } from "./field.ts";
import { objectMetadata, ofAllNamespaces } from "./metadata.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

const modes = z.array(z.enum(["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]));
const MODE = "volumes are directories";
const EMPTY = "a new volume is empty";

export const claimSpec = z.strictObject({
  accessModes: modes.default([]),
  resources: z
    .strictObject({
      requests: z.strictObject({ storage: quantity.optional() }).default({}),
      limits: z.strictObject({ storage: quantity.optional() }).optional(),
    } satisfies Fields<VolumeResourceRequirements>)
    .prefault({}),
  storageClassName: z.string().optional(),
  volumeName: z.string().optional(),
  volumeMode: only("Filesystem", MODE),
  selector: z.strictObject({ matchLabels: labels.optional(), matchExpressions: refusedList("write matchLabels") }).optional(),
  dataSource: refused(EMPTY),
  dataSourceRef: refused(EMPTY),
  volumeAttributesClassName: refusedText("volumes have no classes of attributes"),
} satisfies Fields<PersistentVolumeClaimSpec>);

/** Of a claim by itself: the API server does not check those of a StatefulSet. Source: Kubernetes, ValidatePersistentVolumeClaimSpec. */
export const fullClaimSpec = claimSpec
  .refine(({ accessModes }) => accessModes.length > 0, { error: "names at least one mode", path: ["accessModes"] })
  .refine(({ resources }) => resources.requests.storage !== undefined, { error: "is missing", path: ["resources", "requests", "storage"] });

export const claim = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("PersistentVolumeClaim"),
  metadata: objectMetadata,
  spec: fullClaimSpec,
  status: ignored,
} satisfies Fields<PersistentVolumeClaim>);

// Volumes whose data is elsewhere, such as in a cloud. This host cannot mount them, but their fields are checked, so that a file that Kubernetes
// refuses is refused here, too.

type Here =
  | ("name" | "emptyDir" | "hostPath" | "configMap" | "secret" | "downwardAPI" | "projected" | "persistentVolumeClaim" | "ephemeral")
  | ("local" | "capacity" | "accessModes" | "storageClassName" | "persistentVolumeReclaimPolicy" | "volumeMode" | "claimRef")
  | ("mountOptions" | "nodeAffinity" | "volumeAttributesClassName");
export type Elsewhere = Exclude<keyof (Volume & PersistentVolumeSpec), Here>;

const DISK = "fsType readOnly:flag";
/**
 * The fields of each kind: texts, unless a type is given; those with "!" are required. This is a table and no set of schemas, because schemas of
 * all kinds would take much memory.
 */
const FIELDS = {
  awsElasticBlockStore: `${DISK} partition:int volumeID!`,
  azureDisk: `${DISK} cachingMode diskName! diskURI! kind`,
  azureFile: "readOnly:flag secretName! secretNamespace shareName!",
  cephfs: "monitors:texts! path readOnly:flag secretFile secretRef:ref user",
  cinder: `${DISK} secretRef:ref volumeID!`,
  csi: `${DISK} driver! volumeAttributes:map volumeHandle nodePublishSecretRef:ref nodeStageSecretRef:ref nodeExpandSecretRef:ref controllerExpandSecretRef:ref controllerPublishSecretRef:ref`,
  fc: `${DISK} lun:int targetWWNs:texts wwids:texts`,
  flexVolume: `${DISK} driver! options:map secretRef:ref`,
  flocker: "datasetName datasetUUID",
  gcePersistentDisk: `${DISK} partition:int pdName!`,
  gitRepo: "directory repository! revision",
  glusterfs: "endpoints! endpointsNamespace path! readOnly:flag",
  iscsi: `${DISK} chapAuthDiscovery:flag chapAuthSession:flag initiatorName iqn! iscsiInterface lun:int portals:texts secretRef:ref targetPortal!`,
  nfs: "path! readOnly:flag server!",
  photonPersistentDisk: "fsType pdID!",
  portworxVolume: `${DISK} volumeID!`,
  quobyte: "group readOnly:flag registry! tenant user volume!",
  rbd: `${DISK} image! keyring monitors:texts! pool secretRef:ref user`,
  scaleIO: `${DISK} gateway! protectionDomain secretRef:ref! sslEnabled:flag storageMode storagePool system! volumeName`,
  storageos: `${DISK} secretRef:object volumeName volumeNamespace`,
  vsphereVolume: "fsType storagePolicyID storagePolicyName volumePath!",
} satisfies Record<Elsewhere, string>;

const KINDS: Readonly<Record<string, readonly [what: string, holds: (value: unknown) => boolean]>> = {
  text: ["a text", (value) => typeof value === "string"],
  flag: ["true or false", (value) => typeof value === "boolean"],
  int: ["a whole number", Number.isInteger],
  texts: ["a list of texts", (value) => Array.isArray(value) && value.every((one) => typeof one === "string")],
  map: ["a map of texts", (value) => isObject(value) && Object.values(value).every((one) => typeof one === "string")],
  ref: [
    "a name, and of a PersistentVolume a namespace",
    (value) => isObject(value) && Object.keys(value).every((key) => ["name", "namespace"].includes(key)),
  ],
  object: ["a reference", isObject],
};

function problemsOf(name: Elsewhere, given: unknown): { readonly message: string; readonly path: string[] }[] {
  if (!isObject(given)) return [{ message: "is no map", path: [] }];
  const fields = FIELDS[name].split(" ").map((word) => /^(\w+?)(?::(\w+))?(!?)$/.exec(word)!);
  const unknown = Object.keys(given).filter((key) => !fields.some(([, field]) => field === key));
  return [
    ...unknown.map((key) => ({ message: `the field ${JSON.stringify(key)} is not supported`, path: [key] })),
    ...fields.flatMap(([, field = "", kind = "text", need]) => {
      const value = given[field];
      if (value === undefined || value === "") return need === "!" ? [{ message: "is missing", path: [field] }] : [];
      const [what, holds] = KINDS[kind]!;
      return holds(value) ? [] : [{ message: `is no ${what}`.replace("no a ", "no "), path: [field] }];
    }),
  ];
}

/** Whether all fields of the source are valid. */
export function isSound(name: Elsewhere, given: unknown): boolean {
  return problemsOf(name, given).length === 0;
}

/** A schema field for each kind. @param refusal why a source with valid fields is refused; absent: it is accepted */
export function elsewhereFields<T extends Elsewhere>(names: readonly T[], refusal?: string): Record<T, z.ZodOptional<z.ZodUnknown>> {
  const field = (name: T) =>
    z
      .unknown()
      .superRefine((given, context) => {
        if (given === undefined) return;
        const problems = problemsOf(name, given);
        for (const { message, path } of problems) context.addIssue({ code: "custom", message, path });
        if (refusal !== undefined && problems.length === 0) context.addIssue({ code: "custom", message: `is not supported: ${refusal}` });
      })
      .optional();
  return Object.fromEntries(names.map((name) => [name, field(name)])) as Record<T, ReturnType<typeof field>>;
}

export const ELSEWHERE = Object.keys(FIELDS) as Elsewhere[];

/** The field of the volume that names a source elsewhere; undefined: the volume is on this host. */
export function elsewhereOf(volume: object): Elsewhere | undefined {
  return ELSEWHERE.find((name) => (volume as Readonly<Record<string, unknown>>)[name] !== undefined);
}

const SOURCES = ELSEWHERE.filter((name) => name !== "gitRepo");

export const persistentVolume = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("PersistentVolume"),
  metadata: ofAllNamespaces,
  spec: z
    .strictObject({
      capacity: z.strictObject({ storage: quantity }),
      accessModes: modes.min(1),
      storageClassName: z.string().default(""),
      persistentVolumeReclaimPolicy: wordOf(["Retain", "Recycle", "Delete"]),
      volumeMode: only("Filesystem", MODE),
      claimRef: z
        .strictObject({
          apiVersion: ignored,
          fieldPath: ignored,
          kind: ignored,
          name: z.string().min(1),
          namespace: z.string().default("default"),
          resourceVersion: ignored,
          uid: ignored,
        } satisfies Fields<ObjectReference>)
        .optional(),
      hostPath: z.strictObject({ path: z.string().min(1), type: z.string().default("") } satisfies Fields<HostPathVolumeSource>).optional(),
      local: z.strictObject({ path: z.string().min(1), fsType: ignored } satisfies Fields<LocalVolumeSource>).optional(),
      mountOptions: z.array(z.string()).optional(),
      // It names the node on which the volume is, and this host is the only node.
      nodeAffinity: ignored,
      volumeAttributesClassName: refused("volumes have no classes of attributes"),
      // Claims cannot use such volumes (manifest/claims.ts).
      ...elsewhereFields(SOURCES),
    } satisfies Fields<PersistentVolumeSpec>)
    .refine(({ mountOptions = [], ...one }) => mountOptions.length === 0 || elsewhereOf(one) !== undefined, {
      error: "is not supported: a directory is mounted as it is",
      path: ["mountOptions"],
    })
    .refine(
      ({ hostPath, local, ...one }) => [hostPath, local, elsewhereOf(one)].filter((source) => source !== undefined).length === 1,
      "has to name exactly one source",
    ),
  status: ignored,
} satisfies Fields<PersistentVolume>);

export type ClaimSpec = z.output<typeof claimSpec>;
export type PersistentVolumeInput = z.output<typeof persistentVolume>;
