/** Whether this host, which is the only node, satisfies what a pod asks of a scheduler. */
import type { Problem } from "../../engine/spec/index.ts";
import { fieldsOf } from "../../shared/text/index.ts";
import { LEFT_OUT } from "../schema/field.ts";
import { affinity, type NodeRequirement, type NodeTerm, type SpreadConstraint, spread } from "../schema/placement.ts";
import { CLUSTER_FIELDS, isHeld, SYSTEM_CLASSES } from "../schema/pod.ts";
import type { PodHost, Translation } from "./translation.ts";

type Host = Pick<PodHost, "name" | "architecture">;

const NODE_NAME = "metadata.name";
const HOSTNAME = "kubernetes.io/hostname";

/** Labels that a kubelet gives its node; undefined: the value is not known. Source: Kubernetes, "Well-Known Labels, Annotations and Taints". */
function labelsOf({ name, architecture }: Host): ReadonlyMap<string, string | undefined> {
  const system = ["kubernetes.io/", "beta.kubernetes.io/"];
  return new Map([
    ...system.flatMap((prefix): [string, string | undefined][] => [
      [`${prefix}os`, "linux"],
      [`${prefix}arch`, architecture],
    ]),
    [HOSTNAME, name],
  ]);
}

/** Whether this host satisfies a field of CLUSTER_FIELDS. @param value as it was written; false for a wrong value */
export function holdsHere(field: string, value: unknown, host: Host): boolean {
  switch (field) {
    case "nodeSelector":
      return Object.entries(value ?? {}).every(([key, wanted]) => holds({ key, operator: "In", values: [wanted] }, labelsOf(host)));
    case "affinity": {
      const { data } = affinity.safeParse(value);
      if (data === undefined) return false;
      const terms = data.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
      const others = [data.podAffinity, data.podAntiAffinity].flatMap((one) => one?.requiredDuringSchedulingIgnoredDuringExecution ?? []);
      return others.length === 0 && (terms === undefined || terms.some((one) => isMatched(one, host)));
    }
    case "topologySpreadConstraints": {
      const { data } = spread.safeParse(value);
      // With one node there is one domain, in which the numbers of pods cannot differ.
      const isEven = ({ topologyKey, minDomains = 1 }: SpreadConstraint) => topologyKey === HOSTNAME && minDomains === 1;
      return data?.every((one) => one.whenUnsatisfiable === "ScheduleAnyway" || isEven(one)) ?? false;
    }
    default:
      return isHeld(field, value);
  }
}

/** What this host does not satisfy. @param written a pod as it is in the file, which may have other problems */
export function placementProblems(written: unknown, host: Host): Problem[] {
  const spec = fieldsOf(fieldsOf(written)["spec"]);
  return (["nodeSelector", "affinity", "topologySpreadConstraints"] as const)
    .filter((field) => spec[field] !== undefined && !holdsHere(field, spec[field], host))
    .map((field) => ({ code: "combination", message: `is not supported: ${CLUSTER_FIELDS[field]}; ${LEFT_OUT}`, path: ["spec", field] }));
}

/** Refuses what this host does not satisfy, and tells of what it takes without an effect. */
export function checkPlacement(at: Translation): void {
  for (const { message, path } of placementProblems(at.pod, at.host)) at.refuse(message, path);
  const { priorityClassName: name } = at.pod.spec;
  if (typeof name === "string" && SYSTEM_CLASSES.has(name))
    at.warn(`has no effect: ${CLUSTER_FIELDS.priorityClassName}`, ["spec", "priorityClassName"]);
}

/** A term without requirements matches no node. Source: Kubernetes, NodeSelectorTerm. */
function isMatched({ matchExpressions, matchFields }: NodeTerm, host: Host): boolean {
  const labels = labelsOf(host);
  const fields = new Map([[NODE_NAME, host.name]]);
  const all = [...matchExpressions.map((one) => holds(one, labels)), ...matchFields.map((one) => holds(one, fields))];
  return all.length > 0 && all.every(Boolean);
}

function holds({ key, operator, values }: NodeRequirement, labels: ReadonlyMap<string, string | undefined>): boolean {
  const value = labels.get(key);
  if (value === undefined && labels.has(key)) return true;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return Number(value) > Number(values[0]);
    case "Lt":
      return Number(value) < Number(values[0]);
  }
}
