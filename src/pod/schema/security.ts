/** Security contexts of a pod and of its containers. */
import type { Capabilities, PodSecurityContext, SeccompProfile, SecurityContext, Sysctl } from "kubernetes-types/core/v1.js";
import { z } from "zod";
import { refused, refusedUnlessEmpty } from "./field.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

const id = z.int().min(0).max(2_147_483_647);

/** Only the type Localhost names a profile. */
const profile = z.string().refine((name) => isBelow(name), "has to be a relative path without ..");
const seccompProfile = z
  .strictObject({
    type: z.enum(["RuntimeDefault", "Unconfined", "Localhost"], { error: "is RuntimeDefault, Unconfined or Localhost" }),
    localhostProfile: profile.optional(),
  } satisfies Fields<SeccompProfile>)
  .refine(({ type, localhostProfile }) => (type === "Localhost") === (localhostProfile !== undefined), {
    error: "is given with the type Localhost, and only then",
    path: ["localhostProfile"],
  })
  .optional();

const NO_PROFILE = "is not supported: containers get no profile of AppArmor. Only Unconfined is what they have here";
const appArmorProfile = z
  .strictObject({ type: z.literal("Unconfined", { error: NO_PROFILE }), localhostProfile: refused("it is of the type Localhost") })
  .or(z.custom<Readonly<Record<string, never>>>((value) => typeof value === "object" && value !== null && Object.keys(value).length === 0))
  .optional();

function isBelow(path: string): boolean {
  return path !== "" && !path.startsWith("/") && !path.split("/").includes("..");
}

const common = {
  runAsUser: id.optional(),
  runAsGroup: id.optional(),
  runAsNonRoot: z.boolean().optional(),
  seccompProfile,
  appArmorProfile,
  seLinuxOptions: refusedUnlessEmpty("SELinux labels are not given to containers"),
  windowsOptions: refused("this is Linux"),
};

export const podSecurityContext = z.strictObject({
  ...common,
  fsGroup: id.optional(),
  // It only concerns existing volumes, whose ownership the engine never changes.
  fsGroupChangePolicy: z.enum(["Always", "OnRootMismatch"]).optional(),
  supplementalGroups: z.array(id).default([]),
  supplementalGroupsPolicy: z.enum(["Merge", "Strict"]).default("Merge"),
  // Volumes get no SELinux label, so that the way of changing one does not matter.
  seLinuxChangePolicy: z.enum(["MountOption", "Recursive"]).optional(),
  sysctls: z.array(z.strictObject({ name: z.string(), value: z.string() } satisfies Fields<Sysctl>)).default([]),
} satisfies Fields<PodSecurityContext & Newer>);

/** Fields that Kubernetes has added since 1.30. */
type Newer = Record<"supplementalGroupsPolicy" | "seLinuxChangePolicy", unknown>;

const capability = z.string().regex(/^[A-Z0-9_]+$/i, "write a capability like NET_BIND_SERVICE");

export const securityContext = z.strictObject({
  ...common,
  allowPrivilegeEscalation: z.boolean().optional(),
  capabilities: z
    .strictObject({
      add: z.array(capability).default([]),
      drop: z.array(capability).default([]),
    } satisfies Fields<Capabilities>)
    .optional(),
  privileged: z.boolean().default(false),
  procMount: z.enum(["Default", "Unmasked"]).default("Default"),
  readOnlyRootFilesystem: z.boolean().default(false),
} satisfies Fields<SecurityContext>);

export type ContainerSecurity = z.output<typeof securityContext>;
