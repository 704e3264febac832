/** Translates probes and hooks of a container to checks of the engine. */
import type { TaskInput } from "../../engine/spec/index.ts";
import type { ContainerInput } from "../schema/container.ts";
import type { ProbeInput } from "../schema/probe.ts";
import type { Path, Translation } from "./translation.ts";

type Container = TaskInput["containers"][number];
type Check = NonNullable<Container["healthCheck"]>;
type Checks = Pick<Container, "postStart" | "preStop" | "startupCheck" | "livenessCheck" | "healthCheck">;

/** The check that corresponds to each probe. */
const CHECKS = { startupProbe: "startupCheck", livenessProbe: "livenessCheck", readinessProbe: "healthCheck" } as const;

/** A limit for hooks that hang. Kubernetes has none, so that it is longer than usual grace periods. */
const HOOK_TIMEOUT = "1h";

export function checksOf(at: Translation, container: ContainerInput, path: Path): Checks {
  const { postStart, preStop } = container.lifecycle ?? {};
  const probes = Object.entries(CHECKS).flatMap(([field, name]) => {
    const probe = container[field as keyof typeof CHECKS];
    return probe === undefined ? [] : [[name, checkOf(at, container, probe, [...path, field])]];
  });
  return {
    ...(postStart === undefined ? {} : { postStart: { command: postStart.exec.command, timeout: HOOK_TIMEOUT } }),
    ...(preStop === undefined ? {} : { preStop: { command: preStop.exec.command, timeout: at.pod.spec.terminationGracePeriodSeconds } }),
    ...Object.fromEntries(probes),
  };
}

function checkOf(at: Translation, container: ContainerInput, probe: ProbeInput, path: Path): Check {
  const { initialDelaySeconds, periodSeconds, timeoutSeconds, failureThreshold, successThreshold = 1 } = probe;
  return {
    ...wayOf(at, container, probe, path),
    ...(initialDelaySeconds === 0 ? {} : { initialDelay: initialDelaySeconds }),
    interval: periodSeconds,
    timeout: timeoutSeconds,
    retries: failureThreshold,
    ...(successThreshold === 1 ? {} : { successes: successThreshold }),
  };
}

/** Connections are made from inside the pod, to its loopback interface unless the probe names a host. */
function wayOf(at: Translation, container: ContainerInput, { exec, httpGet, tcpSocket, grpc }: ProbeInput, path: Path): Check {
  if (exec !== undefined) return { command: exec.command };
  if (grpc !== undefined) return { grpc };
  const target = httpGet ?? tcpSocket!;
  const way = httpGet === undefined ? "tcpSocket" : "httpGet";
  const port = portOf(container, target.port);
  if (port === undefined) at.refuse(`the container has no port ${target.port}`, [...path, way, "port"], "unknown-reference");
  const place = { port: port ?? 1, ...(target.host === undefined ? {} : { address: target.host }) };
  if (httpGet === undefined) return { tcp: place };
  const given = httpGet.path ?? "/";
  return {
    http: {
      ...place,
      path: given.startsWith("/") ? given : `/${given}`,
      headers: Object.fromEntries(httpGet.httpHeaders.map(({ name, value }) => [name, value])),
      ...(httpGet.scheme === "HTTPS" ? { tls: true } : {}),
    },
  };
}

function portOf({ ports }: ContainerInput, port: number | string): number | undefined {
  if (typeof port === "number") return port;
  const digits = /^\d{1,5}$/.test(port) ? Number(port) : undefined;
  return ports.find(({ name }) => name === port)?.containerPort ?? digits;
}
