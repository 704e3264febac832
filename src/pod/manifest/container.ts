/** Translates one container of a pod into a container of the task. */
import type { TaskInput } from "../../engine/spec/index.ts";
import { capabilityName } from "../capability.ts";
import { imageReference, NO_PREFIX, pullPolicyOf } from "../image-name.ts";
import { resourcesOf, sharesOf } from "../resources.ts";
import type { ContainerInput } from "../schema/container.ts";
import type { ContainerSecurity } from "../schema/security.ts";
import { uidOf } from "../uid.ts";
import { endMessageOf } from "./end-message.ts";
import { environmentOf } from "./env.ts";
import { checksOf } from "./probes.ts";
import type { Path, Translation } from "./translation.ts";
import { mountsOf } from "./volumes.ts";

type Container = TaskInput["containers"][number];

/** The role of a container in its pod. */
export type Role = "main" | "init" | "sidecar";

/** Annotation of a pod that sets the root file system of a container: "runt.dev/rootfs.web: /srv/web" is for the container `web`. */
export const ROOTFS = "runt.dev/rootfs.";

/** The smallest quota that the kernel accepts, in CPUs. */
const LEAST_CPUS = 0.01;

export function containerOf(at: Translation, container: ContainerInput, role: Role, path: Path): Container {
  const { hostNetwork, hostname, terminationGracePeriodSeconds: grace } = at.pod.spec;
  const { metadata } = at.pod;
  const env = environmentOf(at, container, path);
  const restart = restartOf(at, role);
  const mounts = mountsOf(at, container, path);
  return {
    name: container.name,
    ...programOf(at, container, env, path),
    env,
    ...(container.workingDir === undefined ? {} : { cwd: container.workingDir }),
    ...rightsOf(at, container, path),
    ...limitsOf(container),
    ...(hostNetwork ? {} : { hostname: hostname ?? metadata.name }),
    essential: role === "main",
    ...(restart === undefined ? {} : { restart }),
    ...(container.stdin ? { stdin: container.stdinOnce ? ("once" as const) : true } : {}),
    ...(container.tty ? { tty: true } : {}),
    stopTimeout: grace,
    ...checksOf(at, container, path),
    mounts,
    ...endMessageOf(container, mounts),
    annotations: {
      "runt.dev/pod.namespace": at.namespace,
      "runt.dev/pod.name": metadata.name,
      "runt.dev/pod.uid": uidOf(metadata),
    },
  };
}

/** A command replaces entrypoint and arguments of the image; args alone replace only the arguments. */
function programOf(
  at: Translation,
  container: ContainerInput,
  env: Readonly<Record<string, string>>,
  path: Path,
): Pick<Container, "rootfs" | "image" | "pullPolicy" | "command" | "args"> {
  const [program, ...first] = container.command.map((word, index) => at.expand(word, env, [...path, "command", index]));
  const source = sourceOf(at, container, path);
  if (program === undefined && source.rootfs !== undefined) at.refuse("with a root file system it needs a command", path);
  return {
    ...source,
    ...(program === undefined ? {} : { command: program }),
    args: [...first, ...container.args.map((word, index) => at.expand(word, env, [...path, "args", index]))],
  };
}

/** The annotation replaces the image, so that a pod can be tried without one. */
function sourceOf(
  at: Translation,
  { name, image, imagePullPolicy }: ContainerInput,
  path: Path,
): Pick<Container, "rootfs" | "image" | "pullPolicy"> {
  const rootfs = at.pod.metadata.annotations?.[`${ROOTFS}${name}`];
  if (rootfs !== undefined) return { rootfs };
  if (image === undefined) {
    at.refuse(`needs an image, or its root file system as annotation ${ROOTFS}${name} of the pod`, [...path, "image"]);
    return {};
  }
  const reference = imageReference(image, at.host.images);
  if (reference === undefined) at.refuse(NO_PREFIX, [...path, "image"]);
  return reference === undefined ? {} : { image: reference, pullPolicy: pullPolicyOf(imagePullPolicy, image) };
}

function limitsOf({ resources }: ContainerInput): Pick<Container, "cpus" | "cpuShares" | "memory" | "memoryReservation"> {
  const { limits, requests } = resourcesOf(resources);
  return {
    ...(limits.cpu ? { cpus: Math.max(LEAST_CPUS, limits.cpu / 1000) } : {}),
    ...(requests.cpu === undefined ? {} : { cpuShares: sharesOf(requests.cpu) }),
    ...(limits.memory ? { memory: limits.memory } : {}),
    ...(requests.memory ? { memoryReservation: requests.memory } : {}),
  };
}

/** Delays of 10 s, 20 s, 40 s up to 5 min, and 10 s again after a run of 10 minutes. Source: Kubernetes, "Pod Lifecycle". */
const BACKOFF = { initial: "10s", maximum: "5m", resetAfter: "10m" };

/** Init containers are restarted until they succeed, unless the pod has the restart policy Never. */
function restartOf(at: Translation, role: Role): Container["restart"] {
  const { restartPolicy } = at.pod.spec;
  const { backoffLimit } = at.rules;
  if (backoffLimit !== undefined && role !== "sidecar") {
    return backoffLimit === 0 ? undefined : { ignoredExitCodes: [0], maximumCount: backoffLimit, backoff: BACKOFF };
  }
  if (role === "sidecar" || (role === "main" && restartPolicy === "Always")) return { backoff: BACKOFF };
  return restartPolicy === "Never" ? undefined : { ignoredExitCodes: [0], backoff: BACKOFF };
}

/** Translates privileges of a container. Its own security context takes precedence over that of the pod. */
type Rights = Pick<
  TaskInput["containers"][number],
  "user" | "groups" | "privileged" | "unmasked" | "capabilities" | "noNewPrivileges" | "readonlyRootfs" | "seccomp"
>;

function rightsOf(at: Translation, { securityContext: own }: ContainerInput, path: Path): Rights {
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
