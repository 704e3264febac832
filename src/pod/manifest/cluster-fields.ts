/** Finds what has a meaning only in a cluster. It is refused, or left out with a warning if `--ignore-cluster-fields` is set. */
import { createHash } from "node:crypto";
import type { Problem } from "../../engine/spec/index.ts";
import { elsewhereOf, isSound } from "../schema/claim.ts";
import { areOfControllers } from "../schema/metadata.ts";
import { CLUSTER_FIELDS, isTaken } from "../schema/pod.ts";
import { workloads } from "../schema/workload.ts";
import { DEFAULT_ACCOUNT } from "./accounts.ts";
import { holdsHere } from "./placement.ts";
import type { PodHost } from "./translation.ts";

type Fields = Record<string, unknown>;
type Path = Problem["path"];

/** Path of the pod's spec in documents of each kind. */
const POD_SPEC: Readonly<Record<string, readonly string[]>> = {
  Pod: ["spec"],
  ...Object.fromEntries(Object.keys(workloads).map((kind) => [kind, ["spec", "template", "spec"]])),
  CronJob: ["spec", "jobTemplate", "spec", "template", "spec"],
};

/** Kinds that are never left out, because more would be allowed without them. */
const NEVER: Readonly<Record<string, string>> = { NetworkPolicy: "nothing here would keep connections away" };

/** Kinds that are left out, and why nothing acts on them. */
const OF_CLUSTER: Readonly<Record<string, string>> = {
  Ingress: "nothing here routes requests by their host and path; a Service of type LoadBalancer or NodePort has ports of this host",
  HorizontalPodAutoscaler: "there are as many pods as `replicas` says",
  PodDisruptionBudget: "no scheduler moves pods to another host",
  PriorityClass: "pods start in the order in which they were applied",
  StorageClass: "a claim is a directory of this host",
};
const NO_CLUSTER = "there is no cluster";

/** Fields of the metadata of any document. */
const METADATA = { finalizers: "nothing here removes them", ownerReferences: "there is no owner that could be looked up" } as const;

/** Fields of a Service that the engine chooses itself, or that are for a load balancer. */
const SERVICE = {
  loadBalancerIP: "it is the address of this host",
  loadBalancerClass: "there is no other load balancer",
  healthCheckNodePort: "there is no load balancer that would ask it",
} as const;

/** Sources of a projected volume that exist only in a cluster. */
const PROJECTED = ["serviceAccountToken", "clusterTrustBundle", "podCertificate"] as const;

/** The ConfigMap that each namespace of a cluster has, with the certificate of the API server. */
const AUTHORITY = "kube-root-ca.crt";

export interface Stripped {
  /** undefined: the whole document is left out. */
  readonly value: unknown;
  readonly ignored: readonly Problem[];
}

/** The document without what is for a cluster only. @param kind of the document */
export function withoutClusterFields(given: unknown, kind: string, host: PodHost): Stripped {
  const value = fieldsOf(deepCopy(given));
  const strip = new Strip(host);
  strip.all(value["metadata"], METADATA, ["metadata"]);
  const spec = fieldsOf(value["spec"]);
  const path = POD_SPEC[kind];
  if (path !== undefined) strip.pod(fieldsOf(path.reduce<unknown>((at, key) => fieldsOf(at)[key], value)), path);
  if (kind === "ServiceAccount") strip.account(value);
  if (kind === "Service") strip.all(spec, SERVICE, ["spec"]);
  const source = kind === "PersistentVolume" ? elsewhereOf(spec) : undefined;
  if (source !== undefined && isSound(source, spec[source]))
    return strip.whole(`the volume is left out: what it has (${source}) is elsewhere, and a claim gets an empty directory of the group`, [
      "spec",
      source,
    ]);
  return { value, ignored: strip.told };
}

/** Changes a document in place, and records what was left out. */
class Strip {
  readonly told: Problem[] = [];
  readonly #host: PodHost;

  constructor(host: PodHost) {
    this.#host = host;
  }

  whole(message: string, path: Path): Stripped {
    return { value: undefined, ignored: [...this.told, { code: "shape", message, path }] };
  }

  all(within: unknown, fields: Readonly<Record<string, string>>, path: Path): void {
    const at = fieldsOf(within);
    for (const [field, why] of Object.entries(fields)) if (!isEmpty(field, at[field])) this.#drop(at, field, why, path);
  }

  account(at: Fields): void {
    this.#token(at, []);
    this.all(at, { imagePullSecrets: "there are no accounts, and images are pulled with credentials of the host" }, []);
  }

  pod(spec: Fields, path: Path): void {
    const asked = Object.entries(CLUSTER_FIELDS).filter(
      ([field]) => Object.hasOwn(spec, field) && !this.#holds(field, spec[field]) && isTaken(spec[field]),
    );
    this.all(spec, Object.fromEntries(asked), path);
    const { nodeName } = spec;
    if (typeof nodeName === "string" && isTaken(nodeName) && nodeName !== this.#host.name && nodeName !== "")
      this.#drop(spec, "nodeName", `this host is ${this.#host.name}, not ${nodeName}`, path);
    this.#token(spec, path);
    for (const [index, volume] of listOf(spec["volumes"]).entries()) this.#volume(volume, [...path, "volumes", index]);
  }

  #holds(field: string, value: unknown): boolean {
    const isAccount = field === "serviceAccount" || field === "serviceAccountName";
    return isAccount ? value === DEFAULT_ACCOUNT : holdsHere(field, value, this.#host);
  }

  /** Only `true` is reported: a pod on this host never gets a token. */
  #token(at: Fields, path: Path): void {
    if (at["automountServiceAccountToken"] === true)
      this.#drop(at, "automountServiceAccountToken", "there is no account whose token could be mounted", path);
  }

  #volume(volume: Fields, path: Path): void {
    const source = elsewhereOf(volume);
    // A source with a wrong field is refused later, at that field.
    if (source !== undefined && isSound(source, volume[source])) {
      const claimName = claimFor(source, volume[source]);
      const message = `is elsewhere: in its place is the directory ${claimName} of the group, which begins empty and is kept`;
      this.told.push({ code: "shape", message, path: [...path, source] });
      volume["persistentVolumeClaim"] = { claimName, ...(fieldsOf(volume[source])["readOnly"] === true ? { readOnly: true } : {}) };
      delete volume[source];
    }
    const projected = fieldsOf(volume["projected"]);
    if (!Array.isArray(projected["sources"])) return;
    const found = listOf(projected["sources"]);
    // A cluster adds the volume with both to each pod. Source: Kubernetes, admission plugin ServiceAccount.
    const hasToken = found.some((one) => Object.hasOwn(one, "serviceAccountToken"));
    const left = found.map((one, index) => {
      const ofAuthority = hasToken && fieldsOf(one["configMap"])["name"] === AUTHORITY ? ["configMap"] : [];
      const own = [...PROJECTED.filter((field) => Object.hasOwn(one, field)), ...ofAuthority];
      for (const field of own) this.#drop(one, field, NO_CLUSTER, [...path, "projected", "sources", index]);
      return own.length > 0 && Object.keys(one).length === 0;
    });
    projected["sources"] = projected["sources"].filter((_, index) => !left[index]);
  }

  #drop(at: Fields, field: string, why: string, path: Path): void {
    delete at[field];
    this.told.push({ code: "shape", message: `is left out: ${why}`, path: [...path, field] });
  }
}

/** Whether the value of a field counts as absent, or is one that a cluster writes itself. */
function isEmpty(field: string, value: unknown): boolean {
  if (value === undefined || value === "" || value === 0) return true;
  return field === "finalizers" ? areOfControllers(value) : Array.isArray(value) && value.length === 0;
}

/** Name of the directory for a volume elsewhere. All volumes with the same source get the same directory. */
function claimFor(source: string, what: unknown): string {
  const digest = createHash("sha256")
    .update(JSON.stringify(sorted(what)))
    .digest("hex");
  return `${source.toLowerCase()}-${digest.slice(0, 8)}`;
}

/** Fields in the order of their names. `readOnly` is left out, because the source is the same with and without it. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).filter(([key]) => key !== "readOnly");
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => [key, sorted(one)]));
}

/** The problem of a document whose kind is not supported. @param supported names of the supported kinds */
export function foreignKind(
  kind: unknown,
  isLeftOut: boolean,
  supported: readonly string[],
): { readonly problem: Problem; readonly isError: boolean } {
  const said = (message: string, isError: boolean) => ({ problem: { code: "shape", message, path: ["kind"] } as const, isError });
  if (typeof kind !== "string" || kind === "")
    return said(`documents of kind ${String(kind)} are not supported: only ${supported.join(", ")}`, true);
  const never = ownText(NEVER, kind);
  if (never !== undefined) return said(`documents of kind ${kind} are not supported: ${never}`, true);
  const why = ownText(OF_CLUSTER, kind);
  if (isLeftOut) return said(`the document of kind ${kind} is left out: ${why ?? NO_CLUSTER}`, false);
  const reason = why ?? `only ${supported.join(", ")}`;
  return said(`documents of kind ${kind} are not supported: ${reason}; --ignore-cluster-fields leaves them out`, true);
}

function ownText(texts: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}

function deepCopy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(deepCopy);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, deepCopy(one)]));
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}
