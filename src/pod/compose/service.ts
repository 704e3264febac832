/** Translates one service of a Compose file into a task with one container. */
import type { TaskInput } from "../../engine/spec/index.ts";
import { addedCapabilities, capabilityName } from "../capability.ts";
import { dockerHub, GAP, imageReference, pullPolicyOf, withoutGaps } from "../image-name.ts";
import { isOwnPlatform, ownPlatform } from "./build.ts";
import { checkOf } from "./check.ts";
import { type Contents, contentsOf, envFilesOf, labelFilesOf } from "./contents.ts";
import { devicesOf, NVIDIA } from "./devices.ts";
import { namesOf, pairsOf } from "./fields.ts";
import { hooksOf, wordsIn } from "./hooks.ts";
import { hostNamesOf } from "./host-names.ts";
import { limitsOf } from "./limits.ts";
import { logOf } from "./logging.ts";
import { mountsOf } from "./mounts.ts";
import { dnsOf, networkOf } from "./networks.ts";
import { absolute } from "./paths.ts";
import type { Place, ServicePlace } from "./place.ts";
import { portsOf } from "./ports.ts";
import type { ComposeInput, ServiceInput } from "./schema.ts";
import { updateOf } from "./update.ts";

type Container = TaskInput["containers"][number];

/** Default of stop_grace_period. Source: Compose specification, "stop_grace_period". */
const GRACE = "10s";

interface TaskPlace extends ServicePlace, Place {
  /** Further names in its networks. */
  readonly names: readonly string[];
  readonly replica: NonNullable<TaskInput["replica"]>;
}

export function taskOf(service: ServiceInput, project: ComposeInput, { task, container, names, replica, ...place }: TaskPlace): TaskInput {
  const { volumes, mounts } = mountsOf(service, project, place);
  const contents = together(contentsOf(service, project, place), hostNamesOf(service, { volumes, mounts }, place));
  const { network_mode: mode } = service;
  const member = { names, ports: portsOf(service, place) };
  const network = networkOf(service, project, member, place);
  const dns = network === undefined ? dnsOf(service) : undefined;
  const restart = restartOf(service);
  const env = variablesOf(service, place);
  const annotations = { ...labelFilesOf(service, place), ...pairsOf(service.labels), ...pairsOf(service.annotations) };
  const log = logOf(service, { env, labels: annotations }, place);
  checkPlatform(service, place);
  if (service.ipc === "none" && service.shm_size !== undefined)
    place.warn("has no effect: with ipc: none there is no /dev/shm", ["shm_size"]);
  return {
    name: task,
    containers: [
      {
        name: container,
        ...sourceOf(service, place),
        ...programOf(service, place),
        env,
        ...(service.working_dir === undefined ? {} : { cwd: service.working_dir }),
        ...(service.user === undefined ? {} : { user: String(service.user) }),
        ...(service.hostname === undefined ? {} : { hostname: service.hostname }),
        ...(service.domainname ? { domainname: service.domainname } : {}),
        ...(service.cap_add === undefined && service.cap_drop === undefined
          ? {}
          : { capabilities: { add: addedCapabilities(service.cap_add ?? []), drop: droppedOf(service, place) } }),
        ...(service.privileged ? { privileged: true } : {}),
        ...securityOf(service, place),
        ...(service.ipc === "none" ? { sharedMemory: false as const } : {}),
        readonlyRootfs: service.read_only ?? false,
        dependsOn: dependenciesOf(service, project, { ...place, task }),
        ...(restart === undefined ? {} : { restart }),
        ...hooksOf(service, place),
        ...(service.stop_signal === undefined ? {} : { stopSignal: service.stop_signal }),
        stopTimeout: service.stop_grace_period ?? GRACE,
        ...checkOf(service),
        ...limitsOf(service, place),
        ...(service.cgroup === "host" ? { hostCgroups: true as const } : {}),
        ...(log === undefined ? {} : { log }),
        annotations,
        ...(service.stdin_open ? { stdin: true } : {}),
        ...(service.tty ? { tty: true } : {}),
        ...(service.group_add === undefined
          ? {}
          : { groups: service.group_add.map((one) => (/^\d+$/.test(String(one)) ? Number(one) : String(one))) }),
        ...devicesOf(service, env, place),
        mounts: [...mounts, ...contents.mounts],
      },
    ],
    namespaces: {
      // With `init`, the pause process is process 1 of a shared namespace and reaps orphans.
      pid: service.pid === "host" ? "host" : service.init ? "shared" : "private",
      // Sysctls are set in a namespace that the pause container holds, so it must be a shared one.
      ipc: service.ipc === "host" ? "host" : service.sysctls === undefined ? "private" : "shared",
      network: mode === "host" ? "host" : network === undefined && service.sysctls !== undefined ? "shared" : "private",
      uts: service.uts === "host" || (mode === "host" && service.hostname === undefined) ? "host" : "private",
    },
    ...(service.cgroup_parent ? { cgroupParent: service.cgroup_parent } : {}),
    ...(network === undefined ? {} : { network }),
    ...(dns === undefined ? {} : { dns }),
    volumes: [...volumes, ...contents.volumes],
    ...(service.sysctls === undefined ? {} : { sysctls: pairsOf(service.sysctls) }),
    ...(service.runtime === undefined || service.runtime === NVIDIA ? {} : { runtime: service.runtime }),
    ...updateOf(service, replica),
    start: [service.restart, service.deploy?.restart_policy?.condition].some((one) => one === "always" || one === "unless-stopped")
      ? "always"
      : "once",
  };
}

function together(one: Contents, other: Contents): Contents {
  return { volumes: [...one.volumes, ...other.volumes], mounts: [...one.mounts, ...other.mounts] };
}

/** A variable of `environment` without a value removes that of a file. Source: compose-go, types/project.go, WithServicesEnvironmentResolved. */
function variablesOf(service: ServiceInput, place: ServicePlace): Record<string, string> {
  const named = namesOf(service.environment);
  const ofFiles = Object.entries(envFilesOf(service, place)).filter(([name]) => !named.has(name));
  return { ...Object.fromEntries(ofFiles), ...pairsOf(service.environment, place.environment) };
}

/** Source: moby, oci/caps/utils.go, TweakCapabilities: a privileged container has all capabilities. */
function droppedOf({ cap_drop: given = [], privileged }: ServiceInput, { warn }: ServicePlace): string[] {
  if (privileged && given.length > 0) warn("has no effect, as with Docker: a privileged service has all capabilities", ["cap_drop"]);
  return privileged ? [] : given.map(capabilityName);
}

function checkPlatform({ platform }: ServiceInput, { lacks }: ServicePlace): void {
  if (platform !== undefined && !isOwnPlatform(platform)) lacks(`only ${ownPlatform()} is supported: it is this machine's`, ["platform"]);
}

/**
 * undefined: the engine's default. For the tag `latest` it asks the registry each time, also with `missing`. Source: Compose specification,
 * "pull_policy".
 */
const PULLS: Readonly<Record<string, "Always" | "Never" | undefined>> = { always: "Always", never: "Never" };
/** Policies that ask the registry again after some time. */
const REFRESHES = /^(?:daily|weekly|every_)/;

/** `x-runt-rootfs` replaces the image, so that a service can be tried without one. */
function sourceOf(
  service: ServiceInput,
  { images, built, refuse, lacks, warn }: ServicePlace,
): Pick<Container, "rootfs" | "image" | "pullPolicy"> {
  const { image: written, build, pull_policy: policy, "x-runt-rootfs": rootfs } = service;
  if (rootfs !== undefined) {
    if (build !== undefined) warn("has no effect beside x-runt-rootfs", ["build"]);
    return { rootfs };
  }
  // An image that is built in this project is never pulled.
  if (built !== undefined) return { image: built, pullPolicy: "never" };
  if (build !== undefined) return {};
  // Compose treats an empty image like a missing one.
  if (!written) refuse("needs an image, a build, or its root file system as x-runt-rootfs", ["image"]);
  const image = written ? withoutGaps(written) : undefined;
  if (image !== undefined && image !== written) lacks(GAP, ["image"]);
  const refreshes = policy !== undefined && REFRESHES.test(policy);
  if (refreshes) warn("is as always: the registry is asked each time", ["pull_policy"]);
  const reference = image === undefined ? undefined : imageReference(image, images ?? dockerHub(image));
  const pull = refreshes ? "Always" : PULLS[policy ?? "missing"];
  return reference === undefined ? {} : { image: reference, pullPolicy: pullPolicyOf(pull, image!) };
}

/**
 * An entrypoint replaces entrypoint and arguments of the image; a command alone replaces only the arguments. An empty entrypoint replaces only that
 * of the image, and an empty command says nothing. Source: moby, daemon/commit.go, merge; daemon/create.go, "no command specified".
 */
function programOf(
  { entrypoint, command, "x-runt-rootfs": rootfs }: ServiceInput,
  place: ServicePlace,
): Pick<Container, "command" | "args" | "imageEntrypoint"> {
  const own = wordsIn(command ?? [], ["command"], place);
  const first = wordsIn(entrypoint ?? [], ["entrypoint"], place);
  const isNone = first.length === 1 && first[0] === "";
  if (isNone && own.length === 0) place.refuse("names no program, and takes the place of the image's arguments, too", ["entrypoint"]);
  const [program, ...args] = [...(isNone ? [] : first), ...own];
  if (rootfs === undefined && entrypoint === undefined) return { args: own };
  if (program !== undefined) return { command: program, args };
  return rootfs === undefined ? { args, imageEntrypoint: false } : { args };
}

const CONDITIONS = { service_started: "START", service_healthy: "HEALTHY", service_completed_successfully: "SUCCESS" } as const;

/** Dependencies of the service, also those from `links` and `volumes_from`. Optional dependencies on disabled services are left out. */
function dependenciesOf(
  { depends_on: given = {}, links = [], volumes_from: lenders = [] }: ServiceInput,
  { services }: ComposeInput,
  { isActive, containersOf, refuse, task: own }: ServicePlace & Pick<Place, "task">,
): NonNullable<Container["dependsOn"]> {
  const usual = { condition: "service_started", required: true, restart: false } as const;
  const said = Array.isArray(given)
    ? given.map((name, index) => [name, usual, ["depends_on", index]] as const)
    : Object.entries(given).map(([name, one]) => [name, one, ["depends_on", name]] as const);
  const linked = links.map((link, index) => [link.split(":")[0]!, { ...usual, restart: true }, ["links", index]] as const);
  const lent = lenders
    .filter((one) => Object.hasOwn(services, one.split(":")[0]!))
    .map((one, index) => [one.split(":")[0]!, usual, ["volumes_from", index]] as const);
  const all = [...said, ...[...linked, ...lent].filter(([name]) => !said.some(([other]) => other === name))];
  return all.flatMap(([name, { condition, required, restart }, path]) => {
    const isThere = Object.hasOwn(services, name);
    if (!isThere) refuse(`there is no service ${name}`, path);
    else if (required && !isActive(name)) refuse(`the service ${name} is not switched on: name one of its profiles`, path);
    if (!isThere || !isActive(name)) return [];
    return containersOf(name).map(({ task, container }) =>
      // Containers of one task are always replaced and restarted together.
      task === own
        ? { container, condition: CONDITIONS[condition] }
        : { container: `${task}/${container}`, condition: CONDITIONS[condition], ...(restart ? { restart } : {}) },
    );
  });
}

/** A policy of `deploy` takes precedence. Source: compose, pkg/compose/create.go, getRestartPolicy. */
function restartOf({ restart: policy, deploy }: ServiceInput): Container["restart"] {
  const { condition = "any", max_attempts: most, delay } = deploy?.restart_policy ?? {};
  const backoff = {
    initial: "100ms",
    maximum: "1m",
    resetAfter: "10s",
    ...(delay === undefined ? {} : { initial: delay, maximum: delay }),
  };
  const limit = (count: number | undefined) => (count === undefined || count === 0 ? {} : { maximumCount: count });
  if (deploy?.restart_policy !== undefined) {
    if (condition === "none" || condition === "no") return undefined;
    return { backoff, ...(condition === "on-failure" ? { ignoredExitCodes: [0] } : {}), ...limit(most) };
  }
  if (policy === undefined || policy === "no") return undefined;
  if (!policy.startsWith("on-failure")) return { backoff };
  const [, count] = policy.split(":");
  return { backoff, ignoredExitCodes: [0], ...limit(count === undefined ? undefined : Number(count)) };
}

/** Translates security_opt of a service. Source: docker run, "--security-opt"; moby, daemon/daemon_unix.go. */
type Rights = Pick<TaskInput["containers"][number], "noNewPrivileges" | "seccomp" | "apparmor" | "unmasked">;

/** Options that ask for what holds in any case: services have no AppArmor profile unless they name one, and no SELinux label. */
const HOLDS = ["apparmor=unconfined", "label=disable", "seccomp=builtin"];
const LABEL = /^(?:user|role|type|level|filetype):/;

function securityOf({ security_opt: options = [] }: ServiceInput, { directory, refuse, warn }: ServicePlace): Rights {
  const rights: { noNewPrivileges: boolean; seccomp?: string; apparmor?: string; unmasked?: true } = { noNewPrivileges: false };
  for (const [index, written] of options.entries()) {
    // Older versions used ":" instead of "=".
    const [, name = "", value = ""] = /^([a-z-]+)(?:[=:](.*))?$/s.exec(written.trim()) ?? [];
    const at = ["security_opt", index];
    if (name === "no-new-privileges" && /^(?:true|false|)$/.test(value)) rights.noNewPrivileges = value !== "false";
    else if (HOLDS.includes(`${name}=${value}`)) continue;
    else if (name === "systempaths" && value === "unconfined") rights.unmasked = true;
    else if (name === "seccomp" && value !== "") rights.seccomp = value === "unconfined" ? value : absolute(directory, value);
    else if (name === "apparmor" && value !== "") rights.apparmor = value;
    else if (name === "label" && LABEL.test(value))
      warn("has no effect, as with Docker without --selinux-enabled: there are no labels of SELinux", at);
    else refuse("is not supported: only no-new-privileges, seccomp=FILE, apparmor=PROFILE, systempaths=unconfined and label=", at);
  }
  return rights;
}
