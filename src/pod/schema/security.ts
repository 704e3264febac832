/** Security contexts of a pod and of its containers. */
import type { Capabilities, PodSecurityContext, SeccompProfile, SecurityContext, Sysctl } from "kubernetes-types/core/v1.js";
import { z } from "zod";
import { refused, refusedUnlessEmpty } from "./field.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

const id = z.int().min(0).max(2_147_483_647);
const seccompProfile = z
  .strictObject({
    type: z.enum(["RuntimeDefault", "Unconfined"], { error: "only RuntimeDefault and Unconfined are supported" }),
    localhostProfile: refused("profiles of a kubelet's directory are not looked for"),
  } satisfies Fields<SeccompProfile>)
  .optional();

const common = {
  runAsUser: id.optional(),
  runAsGroup: id.optional(),
  runAsNonRoot: z.boolean().optional(),
  seccompProfile,
  appArmorProfile: refusedUnlessEmpty("AppArmor profiles are not given to containers"),
  seLinuxOptions: refusedUnlessEmpty("SELinux labels are not given to containers"),
  windowsOptions: refused("this is Linux"),
};

export const podSecurityContext = z.strictObject({
  ...common,
  fsGroup: id.optional(),
  // It only affects volumes that existed before, whose ownership the engine never changes.
  fsGroupChangePolicy: z.enum(["Always", "OnRootMismatch"]).optional(),
  supplementalGroups: z.array(id).default([]),
  sysctls: z.array(z.strictObject({ name: z.string(), value: z.string() } satisfies Fields<Sysctl>)).default([]),
} satisfies Fields<PodSecurityContext>);

const capability = z.string().regex(/^[A-Z0-9_]+$/i, "write a capability like NET_BIND_SERVICE");

export const securityContext = z.strictObject({
  ...common,
  allowPrivilegeEscalation: z.boolean().optional(),
  capabilities: z
    .strictObject({
      add: z.array(capability.refine((name) => name.toUpperCase() !== "ALL", "ALL is not supported: name those that it needs")).default([]),
      drop: z.array(capability).default([]),
    } satisfies Fields<Capabilities>)
    .optional(),
  privileged: z.boolean().default(false),
  procMount: z.enum(["Default", "Unmasked"]).default("Default"),
  readOnlyRootFilesystem: z.boolean().default(false),
} satisfies Fields<SecurityContext>);

export type PodSecurity = z.output<typeof podSecurityContext>;
export type ContainerSecurity = z.output<typeof securityContext>;
