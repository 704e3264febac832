/** Containers of a pod. */
import type { Container, ContainerPort, ContainerResizePolicy, ResourceRequirements, VolumeMount } from "kubernetes-types/core/v1.js";
import { z } from "zod";
import { quantityIn } from "../quantity.ts";
import { envFrom, envVar } from "./env.ts";
import { dnsLabel, quantity, refusedList, text, unlessEmpty, wordOf, wordOr } from "./field.ts";
import { killingProbe, lifecycle, readinessProbe } from "./probe.ts";
import { securityContext } from "./security.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

/**
 * Such as "nvidia.com/gpu", which is also the kind of the devices in CDI. Names of Kubernetes itself are left out. Source: Kubernetes, "Extended
 * resources".
 */
export const DEVICES = /^(?!(?:.*\.)?kubernetes\.io\/)[A-Za-z][A-Za-z0-9_.-]*\/[A-Za-z][A-Za-z0-9_-]*$/;
/** More than any host has. */
const MOST_DEVICES = 256;

/** Such as "hugepages-2Mi". */
export const PAGES = /^hugepages-([1-9]\d{0,3})([KMG])i$/;

const amounts = z
  .looseObject({ cpu: quantity.optional(), memory: quantity.optional(), "ephemeral-storage": quantity.optional() })
  .superRefine((given, context) => {
    for (const key of Object.keys(given).filter((one) => !["cpu", "memory", "ephemeral-storage"].includes(one))) {
      if (PAGES.test(key)) {
        const { error } = quantity.safeParse(given[key]);
        if (error !== undefined) context.addIssue({ code: "custom", message: error.issues[0]!.message, path: [key] });
        continue;
      }
      if (DEVICES.test(key)) {
        const { data } = quantity.safeParse(given[key]);
        const count = data === undefined ? Number.NaN : quantityIn(data, 1000) / 1000;
        const message = `is a number of devices from 0 to ${MOST_DEVICES}`;
        if (!Number.isInteger(count) || count > MOST_DEVICES) context.addIssue({ code: "custom", message, path: [key] });
        continue;
      }
      context.addIssue({ code: "custom", message: `the field ${JSON.stringify(key)} is not supported`, path: [key] });
    }
  })
  .optional();

/** Resources of a whole pod. Source: Kubernetes, ResourceRequirements of PodSpec: cpu, memory and huge pages only. */
export const podResources = z.strictObject({
  limits: amounts,
  requests: amounts,
  claims: refusedList("there are no devices to claim"),
} satisfies Fields<ResourceRequirements>);

const resources = z.strictObject({
  limits: amounts,
  requests: amounts,
  claims: refusedList("there are no devices to claim"),
} satisfies Fields<ResourceRequirements>);

const port = z.strictObject({
  containerPort: z.int().min(1).max(65_535),
  // 0 means none, as the zero value of Go.
  hostPort: z
    .int()
    .min(0)
    .max(65_535)
    .transform((port) => port || undefined)
    .optional(),
  hostIP: z.union([z.ipv4(), z.ipv6(), z.literal("")], { error: "is no IP address" }).optional(),
  name: z.string().optional(),
  protocol: wordOr(["TCP", "UDP", "SCTP"], "TCP", "write TCP, UDP or SCTP"),
} satisfies Fields<ContainerPort>);

const volumeMount = z.strictObject({
  name: z.string().min(1),
  mountPath: z.string().min(1),
  readOnly: z.boolean().default(false),
  subPath: z.string().optional(),
  subPathExpr: z.string().optional(),
  mountPropagation: z.enum(["None", "HostToContainer", "Bidirectional"]).optional(),
  recursiveReadOnly: z.enum(["Disabled", "IfPossible", "Enabled"]).optional(),
  bindMountOptions: z.array(z.enum(["noexec", "nodev", "nosuid"])).default([]),
} satisfies Fields<VolumeMount & { bindMountOptions?: unknown }>);

const exitCodes = z.strictObject({
  operator: z.enum(["In", "NotIn"]),
  values: z.array(z.int().min(0).max(255)).min(1).max(255),
});

/** Newer than the types of Kubernetes 1.30, with which other schemas are compared. */
const restartRule = z.strictObject({
  action: z.literal("Restart", { error: "only Restart is supported: containers are started again one by one" }),
  exitCodes,
});

const common = {
  name: dnsLabel,
  image: z.string().optional(),
  imagePullPolicy: wordOf(["Always", "IfNotPresent", "Never"]),
  command: z.array(text).default([]),
  args: z.array(text).default([]),
  workingDir: unlessEmpty(z.string()),
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
  terminationMessagePath: unlessEmpty(z.string()),
  terminationMessagePolicy: wordOr(["File", "FallbackToLogsOnError"], "File", "write File or FallbackToLogsOnError"),
  resizePolicy: z
    .array(
      z.strictObject({
        resourceName: z.enum(["cpu", "memory"]),
        restartPolicy: z.enum(["NotRequired", "RestartContainer"]),
      } satisfies Fields<ContainerResizePolicy>),
    )
    .default([]),
  restartPolicy: z.enum(["Always", "OnFailure", "Never"]).optional(),
  restartPolicyRules: z.array(restartRule).max(20).default([]),
  volumeDevices: refusedList("there are no block volumes"),
};

/** Fields that Kubernetes has added since 1.30. */
type Newer = Record<"restartPolicyRules", unknown>;

const NO_POLICY = "rules need a restartPolicy of the container";

export const container = z
  .strictObject(common satisfies Fields<Container & Newer>)
  .refine(({ restartPolicy, restartPolicyRules }) => restartPolicy !== undefined || restartPolicyRules.length === 0, {
    error: NO_POLICY,
    path: ["restartPolicyRules"],
  });

const NEVER_READY = "an init container that ends is never ready";

export const initContainer = container.superRefine((given, context) => {
  if (given.restartPolicy === "Always") return;
  for (const field of ["readinessProbe", "livenessProbe", "startupProbe", "lifecycle"] as const) {
    if (given[field] !== undefined) context.addIssue({ code: "custom", message: NEVER_READY, path: [field] });
  }
});

export type ContainerInput = z.output<typeof container> | z.output<typeof initContainer>;
export type ResourcesInput = z.output<typeof resources>;
