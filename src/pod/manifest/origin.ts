/** Converts a path in a task to the path in the pod from which it was translated. */

import type { Path } from "./translation.ts";

const FIELDS: Readonly<Record<string, Path>> = {
  rootfs: ["image"],
  pullPolicy: ["imagePullPolicy"],
  storage: ["resources", "limits", "ephemeral-storage"],
  restart: ["restartPolicy"],
  stopSignal: ["lifecycle", "stopSignal"],
  cwd: ["workingDir"],
  cpus: ["resources", "limits", "cpu"],
  memory: ["resources", "limits", "memory"],
  memoryReservation: ["resources", "requests", "memory"],
  startupCheck: ["startupProbe"],
  livenessCheck: ["livenessProbe"],
  healthCheck: ["readinessProbe"],
  postStart: ["lifecycle", "postStart"],
  preStop: ["lifecycle", "preStop"],
  endMessage: ["terminationMessagePath"],
  user: ["securityContext", "runAsUser"],
  runAsNonRoot: ["securityContext", "runAsNonRoot"],
  groups: ["securityContext"],
  seccomp: ["securityContext", "seccompProfile"],
  privileged: ["securityContext", "privileged"],
  unmasked: ["securityContext", "procMount"],
};

const VOLUME: Readonly<Record<string, Path>> = {
  host: ["hostPath", "path"],
  hostType: ["hostPath", "type"],
  medium: ["emptyDir", "medium"],
  image: ["image", "reference"],
};

/** Fields of the pod itself. */
const OF_THE_POD: Readonly<Record<string, Path>> = {
  name: ["metadata", "name"],
  privateUsers: ["spec", "hostUsers"],
  deadline: ["spec", "activeDeadlineSeconds"],
};

const NAMESPACE: Readonly<Record<string, string>> = { pid: "hostPID", ipc: "hostIPC", network: "hostNetwork" };

const MOUNT: Readonly<Record<string, string>> = { volume: "name", target: "mountPath" };

export function originOf(path: Path, members: readonly { readonly path: Path }[]): Path {
  const [list, index, field, at, detail] = path;
  if (list === "volumes") return ["spec", "volumes", index ?? 0, ...(VOLUME[String(field)] ?? [])];
  if (list === "dns" || (list === "network" && index === "dns")) return ["spec", "dnsConfig"];
  if (list === "network" && index === "hosts") return ["spec", "hostAliases"];
  if (list === "network") return ["spec", "containers"];
  if (list === "sysctls") return ["spec", "securityContext", "sysctls"];
  if (list === "namespaces") return ["spec", ...(NAMESPACE[String(index)] === undefined ? [] : [NAMESPACE[String(index)]!])];
  const member = list === "containers" && typeof index === "number" ? members[index]?.path : undefined;
  if (member === undefined) return OF_THE_POD[String(list)] ?? ["spec"];
  switch (field) {
    case undefined:
      return member;
    case "mounts":
      return [...member, "volumeMounts", ...(at === undefined ? [] : [at]), ...(detail === undefined ? [] : [MOUNT[detail] ?? detail])];
    case "capabilities":
      return [...member, "securityContext", ...path.slice(2)];
    default:
      return [...member, ...(FIELDS[field] ?? path.slice(2, 4))];
  }
}
