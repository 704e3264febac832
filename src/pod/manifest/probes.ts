/** Translates probes and hooks of a container to checks of the engine. */
import type { TaskInput } from "../../engine/spec/index.ts";
import type { ContainerInput } from "../schema/container.ts";
import type { HookInput, HttpGetInput, ProbeInput } from "../schema/probe.ts";
import type { Path, Translation } from "./translation.ts";

type Container = TaskInput["containers"][number];
type Check = NonNullable<Container["livenessCheck"]>;
type Hook = NonNullable<Container["postStart"]>;
type Checks = Pick<Container, "postStart" | "preStop" | "startupCheck" | "livenessCheck" | "healthCheck">;

/** The check of the engine for each probe. */
const CHECKS = { startupProbe: "startupCheck", livenessProbe: "livenessCheck", readinessProbe: "healthCheck" } as const;

/** Timeout of hooks. Kubernetes has none, so this is longer than usual grace periods. */
const HOOK_TIMEOUT = "1h";

export function checksOf(at: Translation, container: ContainerInput, path: Path): Checks {
  const { postStart, preStop } = container.lifecycle ?? {};
  const probes = Object.entries(CHECKS).flatMap(([field, name]) => {
    const probe = container[field as keyof typeof CHECKS];
    return probe === undefined ? [] : [[name, checkOf(at, container, probe, [...path, field])]];
  });
  return {
    ...(postStart === undefined
      ? {}
      : { postStart: { ...hookOf(at, container, postStart, [...path, "lifecycle", "postStart"]), timeout: HOOK_TIMEOUT } }),
    // With a grace period of 0 the kubelet kills a container at once, without the hook.
    ...(preStop === undefined || at.pod.spec.terminationGracePeriodSeconds === 0
      ? {}
      : { preStop: { ...hookOf(at, container, preStop, [...path, "lifecycle", "preStop"]), withinStopTimeout: true } }),
    ...Object.fromEntries(probes),
  };
}

function hookOf(at: Translation, container: ContainerInput, { exec, httpGet, sleep }: HookInput, path: Path): Hook {
  if (exec !== undefined) return { command: exec.command };
  if (httpGet !== undefined) return { http: httpOf(at, container, httpGet, [...path, "httpGet"]) };
  const { seconds } = sleep!;
  const { terminationGracePeriodSeconds: grace } = at.pod.spec;
  // Source: validateSleepAction of Kubernetes.
  if (seconds > grace) at.refuse(`is longer than terminationGracePeriodSeconds (${grace})`, [...path, "sleep", "seconds"]);
  return { sleep: seconds };
}

function checkOf(at: Translation, container: ContainerInput, probe: ProbeInput, path: Path): Check {
  const { initialDelaySeconds, periodSeconds, timeoutSeconds, failureThreshold, successThreshold = 1 } = probe;
  const { terminationGracePeriodSeconds: grace } = probe;
  return {
    ...wayOf(at, container, probe, path),
    ...(initialDelaySeconds === 0 ? {} : { initialDelay: initialDelaySeconds }),
    interval: periodSeconds,
    timeout: timeoutSeconds,
    retries: failureThreshold,
    ...(successThreshold === 1 ? {} : { successes: successThreshold }),
    ...(grace === undefined ? {} : { stopTimeout: grace }),
  };
}

/** Connections are made from inside the pod, to its loopback interface unless the probe names a host. */
function wayOf(at: Translation, container: ContainerInput, { exec, httpGet, tcpSocket, grpc }: ProbeInput, path: Path): Check {
  if (exec !== undefined) return { command: expanded(at, container, exec.command, [...path, "exec", "command"]) };
  if (grpc !== undefined) return { grpc: { port: grpc.port, service: grpc.service } };
  if (httpGet !== undefined) return { http: httpOf(at, container, httpGet, [...path, "httpGet"]) };
  return { tcp: placeOf(at, container, tcpSocket!, [...path, "tcpSocket"]) };
}

/**
 * References in the command of a probe. They see values that are written in the manifest, as they are written, and nothing of a variable from
 * elsewhere. Source: ExpandContainerCommandOnlyStatic of the kubelet.
 */
function expanded(at: Translation, { env }: ContainerInput, command: readonly string[], path: Path): string[] {
  const values = Object.fromEntries(env.map(({ name, value = "" }) => [name, value]));
  return command.map((one, index) => at.expand(one, values, [...path, index]));
}

function httpOf(at: Translation, container: ContainerInput, httpGet: HttpGetInput, path: Path): NonNullable<Check["http"]> {
  const given = httpGet.path ?? "/";
  return {
    ...placeOf(at, container, httpGet, path),
    path: given.startsWith("/") ? given : `/${given}`,
    headers: Object.fromEntries(httpGet.httpHeaders.map(({ name, value }) => [name, value])),
    ...(httpGet.scheme === "HTTPS" ? { tls: true } : {}),
  };
}

type Target = Pick<HttpGetInput, "port" | "host">;

function placeOf(at: Translation, container: ContainerInput, target: Target, path: Path): NonNullable<Check["tcp"]> {
  const port = portOf(container, target.port);
  if (port === undefined) at.refuse(`the container has no port ${target.port}`, [...path, "port"], "unknown-reference");
  return { port: port ?? 1, ...(target.host === undefined ? {} : { address: target.host }) };
}

function portOf({ ports }: ContainerInput, port: number | string): number | undefined {
  if (typeof port === "number") return port;
  const digits = /^\d{1,5}$/.test(port) ? Number(port) : undefined;
  return ports.find(({ name }) => name === port)?.containerPort ?? digits;
}
