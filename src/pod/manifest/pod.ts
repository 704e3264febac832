/** Translates a pod into a task. */

import {
  checkTask,
  type Problem,
  parseReference,
  shapeProblems,
  type TaskInput,
  type TaskSpec,
  taskSchema,
  unknownRuntime,
} from "../../engine/spec/index.ts";
import { uidOf } from "../uid.ts";
import { checkAccount } from "./accounts.ts";
import { containerOf, ROOTFS } from "./container.ts";
import { type Member, membersOf } from "./members.ts";
import { dnsWithoutNetwork, networkOf, protocolOf } from "./network.ts";
import { originOf } from "./origin.ts";
import { checkPlacement } from "./placement.ts";
import { checkPullSecrets } from "./pull-secrets.ts";
import type { Path, Translation } from "./translation.ts";
import { volumesOf } from "./volumes.ts";
import { checkWhole, storageOf, wholeOf, wholePages } from "./whole.ts";

export interface Translated {
  /** undefined if there are problems. */
  readonly task?: TaskSpec;
  /** The task before defaults are filled in. */
  readonly input: TaskInput;
  /** Their paths refer to the pod's document. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Annotation of a task that holds the pod's document as JSON. */
export const DOCUMENT = "runt.dev/pod";

/** @param document the pod as it was written */
export function translate(at: Translation, document: unknown): Translated {
  const members = membersOf(at.pod);
  const input = taskOf(at, members, document);
  const parsed = taskSchema.safeParse(input);
  const found = parsed.success ? checkTask(parsed.data, at.host.machines) : shapeProblems(parsed.error);
  // If there are problems already, the engine's checks are skipped, because they would report the same problems with other messages.
  const own = at.problems;
  const problems = own.length > 0 ? own : found.map((problem) => ({ ...problem, path: originOf(problem.path, members) }));
  const { warnings } = at;
  return parsed.success && problems.length === 0 ? { task: parsed.data, input, problems, warnings } : { input, problems, warnings };
}

function taskOf(at: Translation, members: readonly Member[], document: unknown): TaskInput {
  const { metadata, spec } = at.pod;
  checkPod(at);
  checkRestricted(at, members);
  const { cluster } = at.host;
  const network = networkOf(at);
  return {
    name: at.rules.schedule?.name ?? (cluster === undefined ? metadata.name : uidOf(metadata)),
    containers: members.map(({ container, role, path }, index) => ({
      ...containerOf(at, container, role, path),
      dependsOn: dependenciesOf(at, members, index),
    })),
    ...wholeOf(at, members),
    ...wholePages(at, members),
    namespaces: {
      pid: spec.hostPID ? "host" : spec.shareProcessNamespace ? "shared" : "private",
      ipc: spec.hostIPC ? "host" : isAlone(at, members) ? "private" : "shared",
      // A network made by the engine is always shared by the whole task.
      network: spec.hostNetwork ? "host" : network !== undefined || isAlone(at, members) ? "private" : "shared",
      uts: spec.hostNetwork ? "host" : "private",
    },
    ...(network === undefined ? dnsWithoutNetwork(at.pod) : { network }),
    ...(cluster === undefined ? {} : { hostPaths: [...cluster.hostPaths] }),
    volumes: volumesOf(at),
    ...sysctlsOf(at),
    ...(spec.runtimeClassName === undefined ? {} : { runtime: spec.runtimeClassName }),
    ...(spec.hostUsers ? {} : { privateUsers: true as const }),
    ports: spec.hostNetwork ? portsOf(members) : [],
    ends: "all",
    ...deadlineOf(at),
    ...storageOf(members),
    ...(at.rules.retention === undefined ? {} : { retention: at.rules.retention }),
    ...at.rules.rollout,
    ...(at.rules.schedule === undefined ? {} : { schedule: at.rules.schedule.spec }),
    start: spec.restartPolicy === "Always" ? "always" : "once",
    annotations: { ...defaultContainerOf(metadata), [DOCUMENT]: JSON.stringify(document) },
  };
}

/** The container for commands that name none. Source: Kubernetes, "Well-Known Labels, Annotations and Taints". */
const DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container";

function defaultContainerOf({ annotations = {} }: Translation["pod"]["metadata"]): Readonly<Record<string, string>> {
  const name = annotations[DEFAULT_CONTAINER];
  return name === undefined ? {} : { [DEFAULT_CONTAINER]: name };
}

/** The deadline of a Job also holds for its pod. */
function deadlineOf({ pod: { spec }, rules }: Translation): Pick<TaskInput, "deadline"> {
  const seconds = [spec.activeDeadlineSeconds, rules.deadline].filter((one) => one !== undefined);
  return seconds.length === 0 ? {} : { deadline: Math.min(...seconds) };
}

/** Whether the pod is a single container in a virtual machine without shared namespaces. It boots the machine itself. */
function isAlone({ pod: { spec }, host: { machines = [] } }: Translation, members: readonly Member[]): boolean {
  const isShared = spec.shareProcessNamespace || (spec.securityContext?.sysctls ?? []).length > 0;
  return spec.runtimeClassName !== undefined && machines.includes(spec.runtimeClassName) && members.length === 1 && !isShared;
}

/** Init containers start one after the other. All other containers start after the last of them. */
function dependenciesOf(
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
  return [...distinct.values()].map(([port, protocol]) => ({ port, protocol: protocolOf(protocol) }));
}

function sysctlsOf({ pod }: Translation): Pick<TaskInput, "sysctls"> {
  const given = pod.spec.securityContext?.sysctls ?? [];
  return given.length === 0 ? {} : { sysctls: Object.fromEntries(given.map(({ name, value }) => [name, value])) };
}

function checkPod(at: Translation): void {
  const { spec } = at.pod;
  checkWhole(at);
  checkPlacement(at);
  checkAccount(at);
  checkPullSecrets(at);
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
    for (const [index, { hostPort, containerPort, protocol }] of container.ports.entries()) {
      if (protocol === "SCTP" && (spec.hostNetwork || hostPort !== undefined))
        at.refuse("SCTP is not supported on ports of the host: the network leads TCP and UDP on", [...path, "ports", index, "protocol"]);
      if (hostPort === undefined) continue;
      const here: Path = [...path, "ports", index, "hostPort"];
      if (spec.hostNetwork && hostPort !== containerPort) at.refuse("with hostNetwork it is the same as containerPort", here);
    }
  }
}

/** Refuses everything by which a pod of a cluster could reach the host. */

/** Source: Kubernetes, "Using sysctls in a Kubernetes Cluster", "Safe and Unsafe Sysctls". */
const SAFE_SYSCTLS: ReadonlySet<string> = new Set([
  ...["kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range"],
  ...["net.ipv4.ip_unprivileged_port_start", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time"],
  ...["net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes"],
]);

const PROFILE = "a pod of a cluster runs under the profile restricted";

function checkRestricted(at: Translation, members: readonly Member[]): void {
  const rules = at.host.cluster;
  if (rules === undefined) return;
  const refuse = (what: string, path: Path) => at.refuse(`${what}: ${PROFILE}`, path);
  const { spec, metadata } = at.pod;
  for (const field of ["hostNetwork", "hostPID", "hostIPC"] as const) {
    if (spec[field]) refuse("it has no namespace of the host", ["spec", field]);
  }
  for (const key of Object.keys(metadata.annotations ?? {})) {
    if (key.startsWith(ROOTFS)) refuse("it has no root file system of the host", ["metadata", "annotations", key]);
  }
  for (const [index, { hostPath, ...volume }] of spec.volumes.entries()) {
    for (const field of ["persistentVolumeClaim", "ephemeral"] as const) {
      if (volume[field] !== undefined)
        at.refuse("the claim is one of the cluster, and its volume is not on this host", ["spec", "volumes", index, field]);
    }
    if (hostPath === undefined) continue;
    const path: Path = ["spec", "volumes", index, "hostPath", "path"];
    // Symbolic links in the path are checked when it is mounted (engine/volumes/within.ts).
    if (!rules.hostPaths.some((one) => isBelow(hostPath.path, one))) refuse("it is below no directory that pods may mount", path);
  }
  for (const [index, { name }] of (spec.securityContext?.sysctls ?? []).entries()) {
    if (!SAFE_SYSCTLS.has(name)) refuse(`${name} is not safe`, ["spec", "securityContext", "sysctls", index]);
  }
  if (spec.imagePullSecrets.length > 0) refuse("it has none of the credentials of this host", ["spec", "imagePullSecrets"]);
  if (spec.securityContext?.seccompProfile?.type === "Unconfined")
    refuse("it has a filter of system calls", ["spec", "securityContext", "seccompProfile"]);
  for (const { container, path } of members) {
    const { capabilities, seccompProfile, privileged } = container.securityContext ?? {};
    if (privileged) refuse("it is not privileged", [...path, "securityContext", "privileged"]);
    if ((capabilities?.add ?? []).length > 0) refuse("it gets no more capabilities", [...path, "securityContext", "capabilities", "add"]);
    if (seccompProfile?.type === "Unconfined") refuse("it has a filter of system calls", [...path, "securityContext", "seccompProfile"]);
    if (container.image !== undefined && (parseReference(container.image)?.transport ?? "docker") !== "docker")
      refuse("its image is not a file of the host", [...path, "image"]);
    for (const [index, { name, subPath }] of container.volumeMounts.entries()) {
      const isHost = spec.volumes.find((volume) => volume.name === name)?.hostPath !== undefined;
      if (isHost && subPath !== undefined && subPath !== "")
        refuse("a part of a directory of the host is not looked for", [...path, "volumeMounts", index, "subPath"]);
    }
  }
}

function isBelow(path: string, directory: string): boolean {
  const base = directory.endsWith("/") ? directory : `${directory}/`;
  return path === directory || path.startsWith(base);
}
