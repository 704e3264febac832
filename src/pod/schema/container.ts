/** Containers of a pod. */
import type { Container, ContainerPort, ResourceRequirements, VolumeMount } from "kubernetes-types/core/v1.js";
import { z } from "zod";
import { envFrom, envVar } from "./env.ts";
import { dnsLabel, ignored, only, quantity, refused, text } from "./field.ts";
import { killingProbe, lifecycle, readinessProbe } from "./probe.ts";
import { securityContext } from "./security.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

const amounts = z
  .strictObject({
    cpu: quantity.optional(),
    memory: quantity.optional(),
    "ephemeral-storage": refused("what containers write is not measured"),
  })
  .optional();

const resources = z.strictObject({
  limits: amounts,
  requests: amounts,
  claims: refused("there are no devices to claim"),
} satisfies Fields<ResourceRequirements>);

const port = z.strictObject({
  containerPort: z.int().min(1).max(65_535),
  hostPort: z.int().min(1).max(65_535).optional(),
  hostIP: z.union([z.ipv4(), z.ipv6(), z.literal("")], { error: "is no IP address" }).optional(),
  name: z.string().optional(),
  protocol: z.enum(["TCP", "UDP"], { error: "only TCP and UDP are supported" }).default("TCP"),
} satisfies Fields<ContainerPort>);

const volumeMount = z.strictObject({
  name: z.string().min(1),
  mountPath: z.string().min(1),
  readOnly: z.boolean().default(false),
  subPath: z.string().optional(),
  subPathExpr: refused("write subPath"),
  mountPropagation: only("None", "mounts do not go from or to the host"),
  recursiveReadOnly: z.enum(["Disabled", "IfPossible", "Enabled"]).optional(),
} satisfies Fields<VolumeMount>);

const common = {
  name: dnsLabel,
  image: z.string().optional(),
  imagePullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).optional(),
  command: z.array(text).default([]),
  args: z.array(text).default([]),
  workingDir: z.string().optional(),
  env: z.array(envVar).default([]),
  envFrom: z.array(envFrom).default([]),
  ports: z.array(port).default([]),
  resources: resources.optional(),
  volumeMounts: z.array(volumeMount).default([]),
  securityContext: securityContext.optional(),
  readinessProbe: readinessProbe.optional(),
  livenessProbe: killingProbe.optional(),
  startupProbe: killingProbe.optional(),
  lifecycle: lifecycle.optional(),
  stdin: z.boolean().default(false),
  stdinOnce: z.boolean().default(false),
  tty: z.boolean().default(false),
  terminationMessagePath: z.string().optional(),
  terminationMessagePolicy: z.enum(["File", "FallbackToLogsOnError"], { error: "write File or FallbackToLogsOnError" }).default("File"),
  resizePolicy: ignored,
  volumeDevices: refused("there are no block volumes"),
};

export const container = z.strictObject({
  ...common,
  restartPolicy: refused("only init containers have one of their own"),
} satisfies Fields<Container>);

const NEVER_READY = "an init container that ends is never ready";

export const initContainer = z
  .strictObject({
    ...common,
    restartPolicy: z.literal("Always", { error: "only Always is possible: then it goes on beside the containers" }).optional(),
  } satisfies Fields<Container>)
  .superRefine((given, context) => {
    if (given.restartPolicy !== undefined) return;
    for (const field of ["readinessProbe", "livenessProbe", "startupProbe", "lifecycle"] as const) {
      if (given[field] !== undefined) context.addIssue({ code: "custom", message: NEVER_READY, path: [field] });
    }
  });

export type ContainerInput = z.output<typeof container> | z.output<typeof initContainer>;
export type MountInput = z.output<typeof volumeMount>;
export type ResourcesInput = z.output<typeof resources>;
