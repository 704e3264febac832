/** Translates one container of a pod into a container of the task. */
import { AUTO_UPDATE, type TaskInput } from "../../engine/spec/index.ts";
import { addedCapabilities, capabilityName } from "../capability.ts";
import { imageOrHub, pullPolicyOf } from "../image-name.ts";
import { quantityIn } from "../quantity.ts";
import { type ContainerResources, resourcesOf, sharesOf } from "../resources.ts";
import { type ContainerInput, DEVICES, PAGES } from "../schema/container.ts";
import type { ContainerSecurity } from "../schema/security.ts";
import { uidOf } from "../uid.ts";
import { checkContainer } from "./container-rules.ts";
import { addressVariables } from "./downward.ts";
import { environmentOf } from "./env.ts";
import type { Role } from "./members.ts";
import { checksOf } from "./probes.ts";
import { credentialsOf } from "./pull-secrets.ts";
import type { Path, Translation } from "./translation.ts";
import { mountsOf } from "./volumes.ts";

type Container = TaskInput["containers"][number];

/** Annotation of a pod with the root file system of a container: "runt.dev/rootfs.web: /srv/web" is for the container `web`. */
export const ROOTFS = "runt.dev/rootfs.";

/** Directory of a kubelet for the profiles that the type Localhost names. */
const SECCOMP_PROFILES = "/var/lib/kubelet/seccomp";

/** The smallest quota that the kernel accepts, in CPUs. */
const LEAST_CPUS = 0.01;

export function containerOf(at: Translation, container: ContainerInput, role: Role, path: Path): Container {
  const { hostNetwork, hostname, terminationGracePeriodSeconds: grace } = at.pod.spec;
  const { metadata } = at.pod;
  checkContainer(at, container, path);
  const env = environmentOf(at, container, path);
  const addresses = addressVariables(at.pod, container);
  const texts = JSON.stringify([container.command, container.args, container.env]);
  // The engine replaces references to the address itself. It would also replace this escaped one.
  for (const name of addresses.filter((one) => texts.includes(`$$(${one})`)))
    at.refuse(`$$(${name}) is not supported beside the variable ${name}, which has the address of the pod`, [...path, "env"]);
  const restart = restartOf(at, container, role);
  const mounts = mountsOf(at, container, env, path);
  return {
    name: container.name,
    ...programOf(at, container, env, path),
    env,
    ...(addresses.length === 0 ? {} : { addressEnv: addresses }),
    ...(container.workingDir === undefined ? {} : { cwd: container.workingDir }),
    ...rightsOf(at, container, path),
    ...limitsOf(at, container, role),
    ...pagesOf(at, container.resources, [...path, "resources"]),
    ...devicesOf(at, container, [...path, "resources"]),
    ...(hostNetwork ? {} : { hostname: hostname ?? metadata.name }),
    essential: role === "main",
    ...(restart === undefined ? {} : { restart }),
    ...(container.stdin ? { stdin: container.stdinOnce ? ("once" as const) : true } : {}),
    ...(container.tty ? { tty: true } : {}),
    ...stopSignalOf(at, container, path),
    stopTimeout: grace,
    ...checksOf(at, container, path),
    mounts,
    ...endMessageOf(container, mounts),
    annotations: {
      "runt.dev/pod.namespace": at.namespace,
      "runt.dev/pod.name": metadata.name,
      "runt.dev/pod.uid": uidOf(metadata),
      ...resizedByRestart(container),
      ...autoUpdateOf(metadata, container),
    },
  };
}

/** As Podman reads them: of one container, or of all. Source: podman-auto-update(1), podman-kube-play(1). */
function autoUpdateOf({ annotations = {} }: Translation["pod"]["metadata"], { name }: ContainerInput): Readonly<Record<string, string>> {
  const policy = annotations[`${AUTO_UPDATE}/${name}`] ?? annotations[AUTO_UPDATE];
  return policy === undefined ? {} : { [AUTO_UPDATE]: policy };
}

/** A command replaces entrypoint and arguments of the image; args alone replace only the arguments. */
function programOf(
  at: Translation,
  container: ContainerInput,
  env: Readonly<Record<string, string>>,
  path: Path,
): Pick<Container, "rootfs" | "image" | "pullPolicy" | "pullCredentials" | "command" | "args"> {
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
): Pick<Container, "rootfs" | "image" | "pullPolicy" | "pullCredentials"> {
  const rootfs = at.pod.metadata.annotations?.[`${ROOTFS}${name}`];
  if (rootfs !== undefined) return { rootfs };
  if (image === undefined) {
    at.refuse(`needs an image, or its root file system as annotation ${ROOTFS}${name} of the pod`, [...path, "image"]);
    return {};
  }
  const reference = imageOrHub(image, at.host.images);
  const credentials = credentialsOf(at);
  return {
    image: reference,
    pullPolicy: pullPolicyOf(imagePullPolicy, image),
    // An image in a file of this host needs no credentials.
    ...(credentials === undefined || !reference.startsWith("docker://") ? {} : { pullCredentials: credentials }),
  };
}

function stopSignalOf(at: Translation, { lifecycle }: ContainerInput, path: Path): Pick<Container, "stopSignal"> {
  if (lifecycle?.stopSignal === undefined) return {};
  // Source: validateStopSignal of Kubernetes.
  if (at.pod.spec.os === undefined)
    at.refuse("needs spec.os.name, which says whose signals are meant", [...path, "lifecycle", "stopSignal"]);
  return { stopSignal: lifecycle.stopSignal };
}

/** Annotation with the resources whose change must restart the container. The engine replaces a container when its annotations change. */
function resizedByRestart({ resizePolicy, resources }: ContainerInput): Readonly<Record<string, string>> {
  const names = resizePolicy.flatMap(({ resourceName, restartPolicy }) => (restartPolicy === "RestartContainer" ? [resourceName] : []));
  if (names.length === 0) return {};
  const amounts = names.map((name) => [name, resources?.limits?.[name] ?? "", resources?.requests?.[name] ?? ""]);
  return { "runt.dev/resized-by-restart": JSON.stringify(amounts) };
}

type Limits = Pick<Container, "cpus" | "cpuShares" | "memory" | "memoryReservation" | "storage">;

function limitsOf({ pod }: Translation, { resources }: ContainerInput, role: Role): Limits {
  const own = resourcesOf(resources);
  const { limits } = own;
  const requests = role === "init" ? own.requests : { ...shareOf(pod.spec), ...own.requests };
  return {
    ...(limits.cpu ? { cpus: Math.max(LEAST_CPUS, limits.cpu / 1000) } : {}),
    ...(requests.cpu === undefined ? {} : { cpuShares: sharesOf(requests.cpu) }),
    ...(limits.memory ? { memory: limits.memory } : {}),
    ...(requests.memory ? { memoryReservation: requests.memory } : {}),
    ...(limits.storage ? { storage: limits.storage } : {}),
  };
}

const KIBIBYTES: Readonly<Record<string, number>> = { K: 1, M: 1024, G: 1024 * 1024 };

/** Source: Kubernetes, ValidateResourceRequirements, and "Manage HugePages". */
export function pagesOf(at: Translation, resources: ContainerInput["resources"], path: Path): Pick<Container, "hugepages"> {
  const { limits = {}, requests = {} } = resources ?? {};
  const names = [...new Set([...Object.keys(limits), ...Object.keys(requests)])].filter((name) => PAGES.test(name));
  const hugepages: Record<string, number> = {};
  for (const name of names) {
    const [, count, unit] = PAGES.exec(name)!;
    const [limit, request] = [limits, requests].map((one) =>
      one[name] === undefined ? undefined : quantityIn(one[name] as string | number),
    );
    if (limit === undefined) at.refuse("needs a limit: huge pages are never shared", [...path, "requests", name]);
    else if (request !== undefined && request !== limit) at.refuse("is as much as the limit of huge pages", [...path, "requests", name]);
    if (limit === undefined) continue;
    if (limit % (Number(count) * KIBIBYTES[unit!]! * 1024) !== 0) at.refuse("is no whole number of pages", [...path, "limits", name]);
    hugepages[`${count}${unit}B`] = limit;
  }
  if (names.length > 0 && ["cpu", "memory"].every((name) => limits[name] === undefined && requests[name] === undefined))
    at.refuse("with huge pages there is a request or limit of cpu or memory, too", path);
  return names.length === 0 ? {} : { hugepages };
}

/**
 * CDI devices whose kind is the name of the resource. The container gets the lowest numbers that no earlier container of the file has. Source:
 * Kubernetes, ValidateResourceRequirements, and "Device Plugins".
 */
function devicesOf(at: Translation, { resources }: ContainerInput, path: Path): Pick<Container, "cdi"> {
  const { limits = {}, requests = {} } = resources ?? {};
  const kinds = [...new Set([...Object.keys(limits), ...Object.keys(requests)])].filter((name) => DEVICES.test(name));
  const cdi = kinds.flatMap((kind) => {
    const [limit, request] = [limits, requests].map((one) =>
      one[kind] === undefined ? undefined : quantityIn(one[kind] as string | number),
    );
    if (limit === undefined) at.refuse("needs a limit: devices are never shared", [...path, "requests", kind]);
    else if (request !== undefined && request !== limit) at.refuse("is as much as the limit of devices", [...path, "requests", kind]);
    return at.devices(kind, limit ?? 0);
  });
  return cdi.length === 0 ? {} : { cdi };
}

/** Share of each container without a request in what the whole pod requests beyond its containers. */
function shareOf({ resources, containers, initContainers }: Translation["pod"]["spec"]): ContainerResources["requests"] {
  if (resources === undefined) return {};
  const whole = resourcesOf(resources).requests;
  const together = [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === "Always")];
  const given = together.map((one) => resourcesOf(one.resources).requests);
  const share = (name: "cpu" | "memory") => {
    const silent = given.filter((one) => one[name] === undefined).length;
    const rest = (whole[name] ?? 0) - given.reduce((sum, one) => sum + (one[name] ?? 0), 0);
    return silent === 0 || rest <= 0 ? {} : { [name]: Math.floor(rest / silent) };
  };
  return { ...share("cpu"), ...share("memory") };
}

/** Delays of 10 s, 20 s, 40 s up to 5 min, and 10 s again after a run of 10 minutes. Source: Kubernetes, "Pod Lifecycle". */
const BACKOFF = { initial: "10s", maximum: "5m", resetAfter: "10m" };

const EXIT_CODES = Array.from({ length: 256 }, (_, code) => code);

/**
 * A container is restarted if a rule names its exit code. For other codes the restart policy holds. Source: Kubernetes, "Container restart rules".
 */
function restartOf(at: Translation, container: ContainerInput, role: Role): Container["restart"] {
  const { backoffLimit } = at.rules;
  const limit = role === "sidecar" ? undefined : backoffLimit;
  if (limit === 0) return undefined;
  const policy = policyOf(at, container, role);
  const isByRule = (code: number) =>
    container.restartPolicyRules.some(({ exitCodes: { operator, values } }) => values.includes(code) === (operator === "In"));
  const isByPolicy = (code: number) => policy === "Always" || (policy === "OnFailure" && code !== 0);
  const ignoredExitCodes = EXIT_CODES.filter((code) => !isByPolicy(code) && !isByRule(code));
  if (ignoredExitCodes.length === EXIT_CODES.length) return undefined;
  return {
    ...(ignoredExitCodes.length === 0 ? {} : { ignoredExitCodes }),
    ...(limit === undefined ? {} : { maximumCount: limit }),
    backoff: BACKOFF,
  };
}

/** Init containers are restarted until they succeed, unless the pod has the restart policy Never; so are containers of a Job. */
function policyOf({ pod, rules }: Translation, { restartPolicy: own }: ContainerInput, role: Role): "Always" | "OnFailure" | "Never" {
  if (own !== undefined) return own;
  if (rules.backoffLimit !== undefined) return "OnFailure";
  const { restartPolicy } = pod.spec;
  return role === "init" && restartPolicy === "Always" ? "OnFailure" : restartPolicy;
}

/** Translates privileges of a container. Its own security context takes precedence over that of the pod. */
type Rights = Pick<
  TaskInput["containers"][number],
  | "user"
  | "runAsNonRoot"
  | "groups"
  | "strictGroups"
  | "privileged"
  | "unmasked"
  | "capabilities"
  | "noNewPrivileges"
  | "readonlyRootfs"
  | "seccomp"
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
  if (isNonRoot && user === 0) at.refuse("container's runAsUser breaks non-root policy", [...context, "runAsNonRoot"]);
  checkEscalation(at, own, context);
  const isUnmasked = own?.procMount === "Unmasked";
  // Source: ValidateSecurityContext of Kubernetes.
  if (isUnmasked && at.pod.spec.hostUsers) at.refuse("Unmasked needs hostUsers: false", [...context, "procMount"]);
  const { add = [], drop = [] } = own?.capabilities ?? {};
  return {
    // Whether the user of the image is root is known when it has been pulled.
    ...(isNonRoot && user === undefined ? { runAsNonRoot: true as const } : {}),
    // Without runAsUser the user is that of the image. Source: kubelet, determineEffectiveSecurityContext.
    ...(user === undefined && group === undefined ? {} : { user: `${user ?? ""}${group === undefined ? "" : `:${group}`}` }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(common?.supplementalGroupsPolicy === "Strict" ? { strictGroups: true as const } : {}),
    ...(own?.privileged ? { privileged: true } : {}),
    ...(isUnmasked ? { unmasked: true as const } : {}),
    ...(own?.capabilities === undefined ? {} : { capabilities: { add: addedCapabilities(add), drop: drop.map(capabilityName) } }),
    // Kubernetes allows privilege escalation by default.
    noNewPrivileges: own?.allowPrivilegeEscalation === false,
    readonlyRootfs: own?.readOnlyRootFilesystem ?? false,
    ...(seccomp?.type === "Unconfined" ? { seccomp: "unconfined" as const } : {}),
    ...(seccomp?.localhostProfile === undefined
      ? {}
      : { seccomp: `${at.host.seccompProfiles ?? SECCOMP_PROFILES}/${seccomp.localhostProfile}` }),
  };
}

/**
 * Sources: ValidateSecurityContext of Kubernetes; "Restrict a Container's Syscalls with seccomp". A profile of the pod does not apply to privileged
 * containers.
 */
function checkEscalation(at: Translation, own: ContainerSecurity | undefined, path: Path): void {
  if (own?.privileged && own.seccompProfile !== undefined && own.seccompProfile.type !== "Unconfined")
    at.refuse("a privileged container has no filter of system calls", [...path, "seccompProfile"]);
  if (own?.allowPrivilegeEscalation !== false) return;
  const here: Path = [...path, "allowPrivilegeEscalation"];
  if (own.privileged) at.refuse("a privileged container can gain privileges: false and privileged exclude each other", here);
  if (own.capabilities?.add.includes("CAP_SYS_ADMIN")) at.refuse("false and the capability CAP_SYS_ADMIN exclude each other", here);
}

/** Source: Kubernetes API reference, Container.terminationMessagePath. */
const END_MESSAGE = "/dev/termination-log";

/**
 * The file to which a container of a pod writes why it ends. If the default path is within a volume of the pod, no file is made there, because the
 * manifest does not ask for one.
 */
function endMessageOf(
  { terminationMessagePath: given, terminationMessagePolicy: policy }: ContainerInput,
  mounts: NonNullable<Container["mounts"]>,
): Pick<Container, "endMessage"> {
  const path = given ? `/${given.replace(/^\/+/, "")}` : END_MESSAGE;
  const isWithin = mounts.some(({ target }) => `${path}/`.startsWith(`${target.replace(/\/+$/, "")}/`));
  if (path === END_MESSAGE && isWithin) return {};
  return { endMessage: { path, ...(policy === "File" ? {} : { orLog: true }) } };
}
