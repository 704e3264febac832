/** Claims of volumes, and the volumes that are there for them. A claim without such a volume is a directory of this host. */
import type {
  HostPathVolumeSource,
  LocalVolumeSource,
  ObjectReference,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  PersistentVolumeSpec,
  VolumeResourceRequirements,
} from "kubernetes-types/core/v1.js";
import { z } from "zod";
import { ignored, only, quantity, refused, stringMap } from "./field.ts";
import { objectMetadata } from "./metadata.ts";

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
  selector: z.strictObject({ matchLabels: stringMap.optional(), matchExpressions: refused("write matchLabels") }).optional(),
  dataSource: refused(EMPTY),
  dataSourceRef: refused(EMPTY),
  volumeAttributesClassName: refused("volumes have no classes of attributes"),
} satisfies Fields<PersistentVolumeClaimSpec>);

export const claim = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("PersistentVolumeClaim"),
  metadata: objectMetadata,
  spec: claimSpec,
  status: ignored,
} satisfies Fields<PersistentVolumeClaim>);

const HERE = "only hostPath and local are on this host; --ignore-cluster-fields leaves the volume out";

export const persistentVolume = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("PersistentVolume"),
  metadata: objectMetadata,
  spec: z.strictObject({
    capacity: z.strictObject({ storage: quantity }),
    accessModes: modes.min(1),
    storageClassName: z.string().default(""),
    persistentVolumeReclaimPolicy: z.enum(["Retain", "Recycle", "Delete"]).optional(),
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
    mountOptions: refused("a directory is mounted as it is"),
    // It says on which node the volume is, and this is the only one.
    nodeAffinity: ignored,
    volumeAttributesClassName: refused("volumes have no classes of attributes"),
    awsElasticBlockStore: refused(HERE),
    azureDisk: refused(HERE),
    azureFile: refused(HERE),
    cephfs: refused(HERE),
    cinder: refused(HERE),
    csi: refused(HERE),
    fc: refused(HERE),
    flexVolume: refused(HERE),
    flocker: refused(HERE),
    gcePersistentDisk: refused(HERE),
    glusterfs: refused(HERE),
    iscsi: refused(HERE),
    nfs: refused(HERE),
    photonPersistentDisk: refused(HERE),
    portworxVolume: refused(HERE),
    quobyte: refused(HERE),
    rbd: refused(HERE),
    scaleIO: refused(HERE),
    storageos: refused(HERE),
    vsphereVolume: refused(HERE),
  } satisfies Fields<PersistentVolumeSpec>),
  status: ignored,
} satisfies Fields<PersistentVolume>);

export type ClaimSpec = z.output<typeof claimSpec>;
export type PersistentVolumeInput = z.output<typeof persistentVolume>;
