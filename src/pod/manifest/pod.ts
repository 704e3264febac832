/** Translates a pod into a task. */
import {
  checkTask,
  type Problem,
  shapeProblems,
  type TaskInput,
  type TaskSpec,
  taskSchema,
  unknownRuntime,
} from "../../engine/spec/index.ts";
import { uidOf } from "../uid.ts";
import { containerOf } from "./container.ts";
import { dnsOf } from "./dns.ts";
import { type Member, membersOf } from "./members.ts";
import { originOf } from "./origin.ts";
import { checkRestricted } from "./restricted.ts";
import type { Membership } from "./services.ts";
import type { Path, Translation } from "./translation.ts";
import { volumesOf } from "./volumes.ts";
import { wholeOf } from "./whole.ts";

export interface Translated {
  /** undefined if there are problems. */
  readonly task?: TaskSpec;
  /** Paths of the problems lead into the pod's document. */
  readonly problems: readonly Problem[];
}

/** Annotation of a task that holds the pod's document as JSON. */
export const DOCUMENT = "runt.dev/pod";

/** @param document the pod as it was written */
export function translate(at: Translation, document: unknown): Translated {
  const members = membersOf(at.pod);
  const input = taskOf(at, members, document);
  const parsed = taskSchema.safeParse(input);
  const found = parsed.success ? checkTask(parsed.data, at.host.machines) : shapeProblems(parsed.error);
  // The engine's checks are skipped if there are problems, because they would report the same ones in other words.
  const own = at.problems;
  const problems = own.length > 0 ? own : found.map((problem) => ({ ...problem, path: originOf(problem.path, members) }));
  return parsed.success && problems.length === 0 ? { task: parsed.data, problems } : { problems };
}

function taskOf(at: Translation, members: readonly Member[], document: unknown): TaskInput {
  const { metadata, spec } = at.pod;
  checkPod(at);
  checkRestricted(at, members);
  const { cluster } = at.host;
  const isBridged = cluster?.network === "bridge" && !spec.hostNetwork;
  const isOneMachine = isAlone(at, members);
  const published = spec.hostNetwork ? [] : publishedBy(members);
  const membership = at.services.of(at.pod);
  return {
    name: cluster === undefined ? metadata.name : uidOf(metadata),
    containers: members.map(({ container, role, path }, index) => ({
      ...containerOf(at, container, role, path),
      dependsOn: before(at, members, index),
    })),
    ...wholeOf(at, members),
    namespaces: {
      pid: spec.hostPID ? "host" : spec.shareProcessNamespace ? "shared" : "private",
      ipc: spec.hostIPC ? "host" : isOneMachine ? "private" : "shared",
      // A network that the engine makes is always one network for the whole task.
      network: spec.hostNetwork
        ? "host"
        : isBridged || isOneMachine || published.length > 0 || membership !== undefined
          ? "private"
          : "shared",
      uts: spec.hostNetwork ? "host" : "private",
    },
    ...networkOf(at, isBridged, published, membership),
    ...(cluster === undefined ? {} : { hostPaths: [...cluster.hostPaths] }),
    volumes: volumesOf(at),
    ...sysctlsOf(at),
    ...(spec.runtimeClassName === undefined ? {} : { runtime: spec.runtimeClassName }),
    ...(spec.hostUsers ? {} : { privateUsers: true as const }),
    ports: spec.hostNetwork ? portsOf(members) : [],
    ends: "all",
    ...(at.rules.retention === undefined ? {} : { retention: at.rules.retention }),
    ...(at.rules.replace === undefined ? {} : { replace: at.rules.replace }),
    start: spec.restartPolicy === "Always" ? "always" : "once",
    annotations: { [DOCUMENT]: JSON.stringify(document) },
  };
}

/** A single container in a machine shares its namespaces with nobody, so that it boots the machine itself. */
function isAlone({ pod: { spec }, host: { machines = [] } }: Translation, members: readonly Member[]): boolean {
  const isShared = spec.shareProcessNamespace || (spec.securityContext?.sysctls ?? []).length > 0;
  return spec.runtimeClassName !== undefined && machines.includes(spec.runtimeClassName) && members.length === 1 && !isShared;
}

/** A pod has a network of the engine if it has a port of the host, services of the file are in its namespace, or it comes from a cluster that is connected by a bridge. */
function networkOf(
  at: Translation,
  isBridged: boolean,
  published: PublishedPorts,
  membership: Membership | undefined,
): Pick<TaskInput, "network" | "dns"> {
  const dns = dnsOf(at.pod);
  if (isBridged || published.length > 0 || membership !== undefined) {
    const { name, aliases = [], redirects = [], ports = [] } = membership ?? {};
    const network = {
      mode: "bridge" as const,
      ports: [...published, ...ports],
      ...(name === undefined ? {} : { name }),
      ...(aliases.length === 0 ? {} : { aliases: [...aliases] }),
      ...(redirects.length === 0 ? {} : { redirects: [...redirects] }),
      ...(dns === undefined ? {} : { dns }),
    };
    return { network };
  }
  const { hostNetwork } = at.pod.spec;
  return hostNetwork || dns !== undefined ? { dns: dns ?? { inherit: true } } : {};
}

/** Init containers start one after the other. All other containers start after the last of them. */
function before(
  { rules: { after } }: Translation,
  members: readonly Member[],
  index: number,
): NonNullable<TaskInput["containers"][number]["dependsOn"]> {
  const previous = members.slice(0, index).findLast(({ role }) => role !== "main");
  if (previous === undefined) {
    const main = after === undefined ? [] : members.filter(({ role }) => role === "main");
    return main.map(({ container: { name, readinessProbe } }) => ({
      container: `${after?.task}/${name}`,
      condition: after?.hasSucceeded ? "SUCCESS" : readinessProbe === undefined ? "START" : "HEALTHY",
    }));
  }
  return [{ container: previous.container.name, condition: previous.role === "sidecar" ? "START" : "SUCCESS" }];
}

function portsOf(members: readonly Member[]): NonNullable<TaskInput["ports"]> {
  const all = members.flatMap(({ container }) => container.ports.map((one) => [one.containerPort, one.protocol] as const));
  const distinct = new Map(all.map((one) => [one.join("/"), one]));
  return [...distinct.values()].map(([port, protocol]) => ({ port, protocol: protocol === "UDP" ? "udp" : "tcp" }));
}

type PublishedPorts = NonNullable<NonNullable<TaskInput["network"]>["ports"]>;

/** Host ports that are forwarded to the pod. */
function publishedBy(members: readonly Member[]): PublishedPorts {
  return members.flatMap(({ container }) =>
    container.ports.flatMap(({ containerPort, hostPort, hostIP, protocol }) =>
      hostPort === undefined
        ? []
        : [
            {
              container: containerPort,
              host: hostPort,
              protocol: protocol === "UDP" ? ("udp" as const) : ("tcp" as const),
              ...(hostIP === undefined || ANY.has(hostIP) ? {} : { address: hostIP }),
            },
          ],
    ),
  );
}

/** Values that stand for all addresses of the host. */
const ANY: ReadonlySet<string> = new Set(["0.0.0.0", "::", ""]);

function sysctlsOf({ pod }: Translation): Pick<TaskInput, "sysctls"> {
  const given = pod.spec.securityContext?.sysctls ?? [];
  return given.length === 0 ? {} : { sysctls: Object.fromEntries(given.map(({ name, value }) => [name, value])) };
}

function checkPod(at: Translation): void {
  const { spec } = at.pod;
  const { runtimes } = at.host;
  const unknown =
    spec.runtimeClassName === undefined || runtimes === undefined ? undefined : unknownRuntime(spec.runtimeClassName, runtimes);
  if (unknown !== undefined) at.refuse(unknown, ["spec", "runtimeClassName"], "unknown-reference");
  if (spec.hostPID && spec.shareProcessNamespace) at.refuse("hostPID and shareProcessNamespace exclude each other", ["spec", "hostPID"]);
  if (spec.hostNetwork && spec.hostname !== undefined) at.refuse("a pod with hostNetwork has the name of the host", ["spec", "hostname"]);
  for (const field of ["hostNetwork", "hostPID", "hostIPC"] as const) {
    // Source: Kubernetes, PodSpec, hostUsers.
    if (!spec.hostUsers && spec[field]) at.refuse(`${field} and hostUsers: false exclude each other`, ["spec", field]);
  }
  if (spec.nodeName !== undefined && spec.nodeName !== at.host.name) {
    at.refuse(`this host is ${at.host.name}, not ${spec.nodeName}`, ["spec", "nodeName"]);
  }
  if (spec.dnsPolicy === "None" && (spec.dnsConfig?.nameservers ?? []).length === 0) {
    at.refuse("with dnsPolicy None there has to be a server", ["spec", "dnsPolicy"]);
  }
  for (const { container, path } of membersOf(at.pod)) {
    for (const [index, { hostPort, containerPort }] of container.ports.entries()) {
      if (hostPort === undefined) continue;
      const here: Path = [...path, "ports", index, "hostPort"];
      if (spec.hostNetwork && hostPort !== containerPort) at.refuse("with hostNetwork it is the same as containerPort", here);
    }
  }
}
