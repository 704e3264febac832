/** One service of a Compose file -> a task with one container. */
import type { TaskInput } from "../../engine/spec/index.ts";
import { mountsOf, portsOf, type ServicePlace } from "./mounts.ts";
import type { ServiceInput } from "./schema.ts";
import { wordsOf } from "./words.ts";

type Container = TaskInput["containers"][number];

/** Compose, "stop_grace_period". */
const GRACE = "10s";

export function taskOf(name: string, service: ServiceInput, place: ServicePlace): TaskInput {
  const { limits = {}, reservations = {} } = service.deploy?.resources ?? {};
  const cpus = limits.cpus ?? service.cpus;
  const memory = limits.memory ?? service.mem_limit;
  const reserved = reservations.memory ?? service.mem_reservation;
  const pids = limits.pids ?? service.pids_limit;
  const { volumes, mounts } = mountsOf(service, place);
  const ports = portsOf(service, place);
  const check = checkOf(service.healthcheck);
  const restart = restartOf(service.restart);
  return {
    name,
    containers: [
      {
        name,
        ...(service["x-runt-rootfs"] === undefined ? {} : { rootfs: service["x-runt-rootfs"] }),
        ...programOf(service, place),
        env: pairsOf(service.environment, place.environment),
        ...(service.working_dir === undefined ? {} : { cwd: service.working_dir }),
        ...(service.user === undefined ? {} : { user: String(service.user) }),
        ...(service.hostname === undefined ? {} : { hostname: service.hostname }),
        ...(service.cap_add === undefined && service.cap_drop === undefined
          ? {}
          : { capabilities: { add: (service.cap_add ?? []).map(capability), drop: (service.cap_drop ?? []).map(capability) } }),
        readonlyRootfs: service.read_only ?? false,
        dependsOn: dependenciesOf(service),
        ...(restart === undefined ? {} : { restart }),
        ...(service.stop_signal === undefined ? {} : { stopSignal: service.stop_signal }),
        stopTimeout: service.stop_grace_period ?? GRACE,
        ...(check === undefined ? {} : { healthCheck: check }),
        ...(cpus === undefined ? {} : { cpus }),
        ...(memory === undefined ? {} : { memory: bytesOf(memory) }),
        ...(reserved === undefined ? {} : { memoryReservation: bytesOf(reserved) }),
        ...(pids === undefined ? {} : { pids }),
        annotations: pairsOf(service.labels, {}),
        mounts,
      },
    ],
    namespaces: {
      pid: service.pid ?? "private",
      ipc: service.ipc === "host" ? "host" : "private",
      network: service.network_mode === "host" ? "host" : "private",
      uts: service.network_mode === "host" && service.hostname === undefined ? "host" : "private",
    },
    ...(ports.length > 0 ? { network: { mode: "bridge", ports } } : {}),
    volumes,
    start: service.restart === "always" || service.restart === "unless-stopped" ? "always" : "once",
  };
}

function programOf({ entrypoint, command }: ServiceInput, { refuse }: ServicePlace): Pick<Container, "command" | "args"> {
  const split = (value: string | string[] | undefined, field: string) => {
    try {
      return typeof value === "string" ? wordsOf(value) : (value ?? []);
    } catch (error) {
      refuse((error as Error).message, [field]);
      return [];
    }
  };
  const [program, ...args] = [...split(entrypoint, "entrypoint"), ...split(command, "command")];
  return { ...(program === undefined ? {} : { command: program }), args };
}

/** "NAME" without "=" takes its value from the caller's environment. Without a value there it is left out. */
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

function dependenciesOf({ depends_on: given = {} }: ServiceInput): NonNullable<Container["dependsOn"]> {
  if (Array.isArray(given)) return given.map((name) => ({ container: `${name}/${name}`, condition: "START" }));
  return Object.entries(given).map(([name, { condition }]) => ({ container: `${name}/${name}`, condition: CONDITIONS[condition] }));
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

const POWER: Readonly<Record<string, number>> = { "": 0, b: 0, k: 1, m: 2, g: 3 };

/** Compose, "Specifying byte values": units are powers of 1024. */
function bytesOf(value: string | number): number {
  const [, count, unit = ""] = /^([\d.]+)(\w?)/.exec(String(value).toLowerCase())!;
  return Math.round(Number(count) * 1024 ** POWER[unit]!);
}
