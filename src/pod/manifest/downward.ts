/** The downward API: passes fields of the pod to its containers (fieldRef, resourceFieldRef). */
import { quantityPer } from "../quantity.ts";
import type { ContainerInput } from "../schema/container.ts";
import type { FieldRef, ResourceFieldRef } from "../schema/env.ts";
import { uidOf } from "../uid.ts";
import { accountOf } from "./accounts.ts";
import type { Path, Translation } from "./translation.ts";

/** Where the value is used. A whole map (all labels or all annotations) is possible only in a file. */
export type Place = "env" | "file";

const ONE = /^metadata\.(labels|annotations)\['([^']+)'\]$/;

/** undefined: the reference was refused. */
export function fieldValue(at: Translation, { fieldPath }: FieldRef, path: Path, place: Place): string | undefined {
  const { metadata } = at.pod;
  const one = ONE.exec(fieldPath);
  if (one !== null) return metadata[one[1] as "labels" | "annotations"]?.[one[2]!] ?? "";
  switch (fieldPath) {
    case "metadata.name":
      return metadata.name;
    case "metadata.namespace":
      return at.namespace;
    case "metadata.uid":
      return uidOf(metadata);
    case "status.podIP":
    case "status.podIPs":
      if (place === "file" || at.host.cluster?.network === "none") break;
      // In other networks the address is known only when the pod runs (addressVariables).
      return at.pod.spec.hostNetwork ? at.host.address : undefined;
    case "status.hostIP":
    case "status.hostIPs":
      if (place === "env") return at.host.address;
      break;
    case "spec.serviceAccountName":
      if (place === "env") return accountOf(at.pod);
      break;
    case "spec.nodeName":
      if (place === "env") return at.host.name;
      break;
    case "metadata.labels":
    case "metadata.annotations":
      if (place === "file") return linesOf(metadata[fieldPath.slice(9) as "labels" | "annotations"] ?? {});
      break;
  }
  at.refuse(`the field ${fieldPath} is not known to a container here`, [...path, "fieldPath"], "unknown-reference");
  return undefined;
}

/** Names of the variables that hold the address of the pod. It is known only when the pod's network exists. */
export function addressVariables({ spec }: Translation["pod"], { env }: ContainerInput): string[] {
  if (spec.hostNetwork) return [];
  return env.flatMap(({ name, valueFrom }) => (/^status\.podIPs?$/.test(valueFrom?.fieldRef?.fieldPath ?? "") ? [name] : []));
}

function linesOf(map: Readonly<Record<string, string>>): string {
  return Object.entries(map)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}\n`)
    .join("");
}

/** Value of a resource field. Without a limit it is the capacity of the host. */
export function resourceValue(at: Translation, own: ContainerInput | undefined, ref: ResourceFieldRef, path: Path): string | undefined {
  const { spec } = at.pod;
  const container =
    ref.containerName === undefined ? own : [...spec.containers, ...spec.initContainers].find(({ name }) => name === ref.containerName);
  if (container === undefined) {
    const message = ref.containerName === undefined ? "has to name a container" : `the pod has no container ${ref.containerName}`;
    at.refuse(message, [...path, "containerName"], "unknown-reference");
    return undefined;
  }
  const [list, name] = ref.resource.split(".") as ["limits" | "requests", "cpu" | "memory"];
  const { limits, requests } = container.resources ?? {};
  const whole = name === "cpu" ? at.host.cpus : at.host.memoryBytes;
  const most = limits?.[name] ?? spec.resources?.limits?.[name] ?? whole;
  const value = list === "limits" ? most : (requests?.[name] ?? limits?.[name] ?? 0);
  const divisor = ref.divisor === undefined || String(ref.divisor) === "0" ? 1 : ref.divisor;
  return quantityPer(value, divisor);
}
