/** Translates one service of a Compose file into a task with one container. */
import type { TaskInput } from "../../engine/spec/index.ts";
import { imageReference, NO_PREFIX, pullPolicyOf } from "../image-name.ts";
import { contentsOf, envFilesOf } from "./contents.ts";
import { mountsOf, portsOf, type ServicePlace } from "./mounts.ts";
import { networkOf } from "./networks.ts";
import { bytesOf } from "./quantity.ts";
import type { ComposeInput, ServiceInput } from "./schema.ts";
import { wordsOf } from "./words.ts";

type Container = TaskInput["containers"][number];

/** Source: Compose specification, "stop_grace_period". */
const GRACE = "10s";

export function taskOf(name: string, service: ServiceInput, project: ComposeInput, place: ServicePlace): TaskInput {
  const { limits = {}, reservations = {} } = service.deploy?.resources ?? {};
  const cpus = limits.cpus ?? service.cpus;
  const memory = limits.memory ?? service.mem_limit;
  const reserved = reservations.memory ?? service.mem_reservation;
  const pids = limits.pids ?? service.pids_limit;
  const { volumes, mounts } = mountsOf(service, project, place);
  const contents = contentsOf(service, project, place);
  const network = networkOf(service, project, portsOf(service, place), place);
  const check = checkOf(service.healthcheck);
  const restart = restartOf(service.restart);
  return {
    name,
    containers: [
      {
        name: containerName(name, service),
        ...sourceOf(service, place),
        ...programOf(service, place),
        env: { ...envFilesOf(service, place), ...pairsOf(service.environment, place.environment) },
        ...(service.working_dir === undefined ? {} : { cwd: service.working_dir }),
        ...(service.user === undefined ? {} : { user: String(service.user) }),
        ...(service.hostname === undefined ? {} : { hostname: service.hostname }),
        ...(service.cap_add === undefined && service.cap_drop === undefined
          ? {}
          : { capabilities: { add: (service.cap_add ?? []).map(capability), drop: (service.cap_drop ?? []).map(capability) } }),
        ...(service.privileged ? { privileged: true } : {}),
        readonlyRootfs: service.read_only ?? false,
        dependsOn: dependenciesOf(service, project, place),
        ...(restart === undefined ? {} : { restart }),
        ...(service.stop_signal === undefined ? {} : { stopSignal: service.stop_signal }),
        stopTimeout: service.stop_grace_period ?? GRACE,
        ...(check === undefined ? {} : { healthCheck: check }),
        ...(cpus === undefined ? {} : { cpus }),
        ...(memory === undefined ? {} : { memory: bytesOf(memory) }),
        ...(reserved === undefined ? {} : { memoryReservation: bytesOf(reserved) }),
        ...(pids === undefined ? {} : { pids }),
        annotations: { ...pairsOf(service.labels, {}), ...pairsOf(service.annotations, {}) },
        ...(service.stdin_open ? { stdin: true } : {}),
        ...(service.tty ? { tty: true } : {}),
        ...(service.group_add === undefined ? {} : { groups: service.group_add.map(Number) }),
        mounts: [...mounts, ...contents.mounts],
      },
    ],
    namespaces: {
      pid: service.pid ?? "private",
      // Sysctls are set in the namespace that the pause container holds, which must be a shared one.
      ipc: service.ipc === "host" ? "host" : service.sysctls === undefined ? "private" : "shared",
      network: service.network_mode === "host" ? "host" : network === undefined && service.sysctls !== undefined ? "shared" : "private",
      uts: service.network_mode === "host" && service.hostname === undefined ? "host" : "private",
    },
    ...(network === undefined ? {} : { network }),
    volumes: [...volumes, ...contents.volumes],
    ...(service.sysctls === undefined ? {} : { sysctls: pairsOf(service.sysctls, {}) }),
    ...(service.runtime === undefined ? {} : { runtime: service.runtime }),
    start: service.restart === "always" || service.restart === "unless-stopped" ? "always" : "once",
  };
}

/** undefined: the engine's default, which asks the registry for the tag `latest` each time, also with `missing`. Source: Compose specification, "pull_policy". */
const PULLS = { always: "Always", never: "Never", missing: undefined, if_not_present: undefined } as const;

/** `x-runt-rootfs` replaces the image, so that a service can be tried without one. */
function sourceOf(service: ServiceInput, { images, refuse }: ServicePlace): Pick<Container, "rootfs" | "image" | "pullPolicy"> {
  const { image, pull_policy: policy, "x-runt-rootfs": rootfs } = service;
  if (rootfs !== undefined) return { rootfs };
  if (image === undefined) refuse("needs an image, or its root file system as x-runt-rootfs", ["image"]);
  const reference = image === undefined ? undefined : imageReference(image, images);
  if (image !== undefined && reference === undefined) refuse(NO_PREFIX, ["image"]);
  return reference === undefined ? {} : { image: reference, pullPolicy: pullPolicyOf(PULLS[policy ?? "missing"], image!) };
}

/** An entrypoint replaces entrypoint and arguments of the image; a command alone replaces only the arguments. Source: Compose specification, "entrypoint". */
function programOf(
  { entrypoint, command, "x-runt-rootfs": rootfs }: ServiceInput,
  { refuse }: ServicePlace,
): Pick<Container, "command" | "args"> {
  const split = (value: string | string[] | undefined, field: string) => {
    try {
      return typeof value === "string" ? wordsOf(value) : (value ?? []);
    } catch (error) {
      refuse((error as Error).message, [field]);
      return [];
    }
  };
  const own = split(command, "command");
  if (entrypoint === undefined) {
    if (command !== undefined && own.length === 0) refuse("is empty: leave it out, or name an entrypoint", ["command"]);
    if (rootfs === undefined) return { args: own };
  }
  const [program, ...args] = [...split(entrypoint, "entrypoint"), ...own];
  if (entrypoint !== undefined && program === undefined) refuse("names no program, and takes the place of the image's", ["entrypoint"]);
  return { ...(program === undefined ? {} : { command: program }), args };
}

/** "NAME" without "=" gets its value from the caller's environment, and is left out if it is not set there. */
export function pairsOf(given: ServiceInput["environment"], outside: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const pairs: (readonly [string, string | undefined])[] = Array.isArray(given)
    ? given.map((one) => {
        const at = one.indexOf("=");
        return at < 0 ? [one, undefined] : [one.slice(0, at), one.slice(at + 1)];
      })
    : Object.entries(given ?? {}).map(([name, value]) => [name, value === null ? undefined : String(value)]);
  return Object.fromEntries(
    pairs.flatMap(([name, value]) => {
      const known = value ?? outside[name];
      return known === undefined ? [] : [[name, known]];
    }),
  );
}

function capability(name: string): string {
  return name === "ALL" || name.startsWith("CAP_") ? name : `CAP_${name}`;
}

const CONDITIONS = { service_started: "START", service_healthy: "HEALTHY", service_completed_successfully: "SUCCESS" } as const;

/** Optional dependencies on services that are not enabled are left out. */
function dependenciesOf(
  { depends_on: given = {} }: ServiceInput,
  { services }: ComposeInput,
  { isActive }: ServicePlace,
): NonNullable<Container["dependsOn"]> {
  const target = (name: string) => `${name}/${Object.hasOwn(services, name) ? containerName(name, services[name]!) : name}`;
  if (Array.isArray(given)) return given.map((name) => ({ container: target(name), condition: "START" }));
  return Object.entries(given).flatMap(([name, { condition, required, restart }]) =>
    required || isActive(name) ? [{ container: target(name), condition: CONDITIONS[condition], ...(restart ? { restart } : {}) }] : [],
  );
}

function containerName(service: string, { container_name: own }: ServiceInput): string {
  return own ?? service;
}

function restartOf(policy: ServiceInput["restart"]): Container["restart"] {
  if (policy === undefined || policy === "no") return undefined;
  const backoff = { initial: "100ms", maximum: "1m", resetAfter: "10s" };
  if (!policy.startsWith("on-failure")) return { backoff };
  const [, most] = policy.split(":");
  return { backoff, ignoredExitCodes: [0], ...(most === undefined ? {} : { maximumCount: Number(most) }) };
}

function checkOf(given: ServiceInput["healthcheck"]): Container["healthCheck"] {
  if (given?.test === undefined || given.disable) return undefined;
  const test = typeof given.test === "string" ? ["CMD-SHELL", given.test] : given.test;
  if (test[0] === "NONE") return undefined;
  const command = test[0] === "CMD" ? test.slice(1) : ["/bin/sh", "-c", test.slice(1).join(" ")];
  return {
    command,
    interval: given.interval ?? "30s",
    timeout: given.timeout ?? "30s",
    retries: given.retries ?? 3,
    startPeriod: given.start_period ?? 0,
  };
}
