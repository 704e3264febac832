/** Translates privileges of a container. Its own security context takes precedence over that of the pod. */
import type { TaskInput } from "../../engine/spec/index.ts";
import { capabilityName } from "../capability.ts";
import type { ContainerInput } from "../schema/container.ts";
import type { ContainerSecurity } from "../schema/security.ts";
import type { Path, Translation } from "./translation.ts";

type Rights = Pick<
  TaskInput["containers"][number],
  "user" | "groups" | "privileged" | "unmasked" | "capabilities" | "noNewPrivileges" | "readonlyRootfs" | "seccomp"
>;

export function rightsOf(at: Translation, { securityContext: own }: ContainerInput, path: Path): Rights {
  const { securityContext: common } = at.pod.spec;
  const user = own?.runAsUser ?? common?.runAsUser;
  const group = own?.runAsGroup ?? common?.runAsGroup;
  const { supplementalGroups = [], fsGroup } = common ?? {};
  const groups = [...new Set([...supplementalGroups, ...(fsGroup === undefined ? [] : [fsGroup])])];
  const isNonRoot = own?.runAsNonRoot ?? common?.runAsNonRoot ?? false;
  const seccomp = own?.seccompProfile ?? common?.seccompProfile;
  const context: Path = [...path, "securityContext"];
  if (isNonRoot && (user ?? 0) === 0) at.refuse("runAsNonRoot needs a runAsUser that is not 0", [...context, "runAsNonRoot"]);
  if (group !== undefined && user === undefined) at.refuse("runAsGroup needs runAsUser", [...context, "runAsGroup"]);
  checkEscalation(at, own, context);
  const isUnmasked = own?.procMount === "Unmasked";
  // Source: ValidateSecurityContext of Kubernetes.
  if (isUnmasked && at.pod.spec.hostUsers) at.refuse("Unmasked needs hostUsers: false", [...context, "procMount"]);
  const { add = [], drop = [] } = own?.capabilities ?? {};
  return {
    ...(user === undefined ? {} : { user: group === undefined ? String(user) : `${user}:${group}` }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(own?.privileged ? { privileged: true } : {}),
    ...(isUnmasked ? { unmasked: true as const } : {}),
    ...(own?.capabilities === undefined ? {} : { capabilities: { add: add.map(capabilityName), drop: drop.map(capabilityName) } }),
    // Kubernetes allows privilege escalation by default.
    noNewPrivileges: own?.allowPrivilegeEscalation === false,
    readonlyRootfs: own?.readOnlyRootFilesystem ?? false,
    ...(seccomp?.type === "Unconfined" ? { seccomp: "unconfined" as const } : {}),
  };
}

/** Sources: ValidateSecurityContext of Kubernetes; "Restrict a Container's Syscalls with seccomp". A profile of the pod is for its other containers. */
function checkEscalation(at: Translation, own: ContainerSecurity | undefined, path: Path): void {
  if (own?.privileged && own.seccompProfile?.type === "RuntimeDefault")
    at.refuse("a privileged container has no filter of system calls", [...path, "seccompProfile"]);
  if (own?.allowPrivilegeEscalation !== false) return;
  const here: Path = [...path, "allowPrivilegeEscalation"];
  if (own.privileged) at.refuse("a privileged container can gain privileges: false and privileged exclude each other", here);
  if (own.capabilities?.add.includes("CAP_SYS_ADMIN")) at.refuse("false and the capability CAP_SYS_ADMIN exclude each other", here);
}
