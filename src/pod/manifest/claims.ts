/** PersistentVolumeClaims of a file and their volumes. A claim without a volume in the file gets a directory of the group, which is kept. */
import type { Problem, TaskInput } from "../../engine/spec/index.ts";
import { compareQuantities } from "../quantity.ts";
import { type ClaimSpec, elsewhereOf, type PersistentVolumeInput } from "../schema/claim.ts";
import type { PodInput } from "../schema/pod.ts";

type Source = Pick<NonNullable<TaskInput["volumes"]>[number], "host" | "hostType" | "kept">;

type Place = (problem: Problem) => void;

interface Claim {
  readonly spec: ClaimSpec;
  readonly place: Place;
  readonly warn: Place;
}

/** A volume whose data is not on this host. */
interface Foreign {
  readonly what: string;
  readonly warn: Place;
}

export class Claims {
  readonly #claims = new Map<string, Claim>();
  readonly #volumes: PersistentVolumeInput[] = [];
  readonly #foreign = new Map<PersistentVolumeInput, Foreign>();
  /** The volume of each claim, by the id of the claim. */
  readonly #bound = new Map<string, PersistentVolumeInput>();

  /**
   * Returns false if there already is a claim with this name.
   * @param claim `place` and `warn` report problems of its document: `place` if a pod uses the claim, otherwise `warn`
   */
  add(namespace: string, name: string, claim: Claim): boolean {
    const id = idOf(namespace, name);
    if (this.#claims.has(id)) return false;
    this.#claims.set(id, claim);
    return true;
  }

  /** Returns false if there already is a volume with this name. @param warn reports warnings about its document */
  addVolume(volume: PersistentVolumeInput, warn: Place): boolean {
    if (this.#volumes.some(({ metadata }) => metadata.name === volume.metadata.name)) return false;
    this.#volumes.push(volume);
    const source = elsewhereOf(volume.spec);
    if (source !== undefined) this.#foreign.set(volume, { what: source, warn });
    return true;
  }

  /**
   * Gives each claim the smallest volume of the file that fits, like the controller of Kubernetes. Must be called with the pods of the file before
   * `sourceOf`.
   */
  bind(pods: readonly PodInput[]): void {
    const used = new Set(pods.flatMap((pod) => claimsOf(pod)));
    const bySize = this.#volumes.toSorted((a, b) => compareQuantities(sizeOf(a), sizeOf(b)));
    for (const [id, { spec, ...told }] of this.#claims) {
      const place = used.has(id) ? told.place : told.warn;
      const free = bySize.filter((one) => ![...this.#bound.values()].includes(one));
      const reserved = free.find(({ spec: { claimRef } }) => claimRef !== undefined && idOf(claimRef.namespace, claimRef.name) === id);
      const named = spec.volumeName === undefined ? undefined : free.find(({ metadata }) => metadata.name === spec.volumeName);
      const fitting = () => reserved ?? free.find((one) => one.spec.claimRef === undefined && fits(one, spec));
      const found = spec.volumeName === undefined ? fitting() : named;
      if (spec.volumeName !== undefined && named === undefined)
        place({ code: "unknown-reference", message: `the file has no free volume ${spec.volumeName}`, path: ["spec", "volumeName"] });
      if (found === undefined) continue;
      this.#bound.set(id, found);
      const foreign = this.#foreign.get(found);
      if (foreign === undefined) continue;
      const message = `what its volume ${found.metadata.name} has (${foreign.what}) is not on this host`;
      place({ code: "unknown-reference", message, path: ["spec"] });
    }
    const bound = new Set(this.#bound.values());
    for (const [volume, { what, warn }] of this.#foreign)
      if (!bound.has(volume)) warn({ code: "shape", message: "is not used: no claim of the file has the volume", path: ["spec", what] });
  }

  /** The directory of a claim. */
  sourceOf(namespace: string, name: string): Source {
    const { hostPath, local } = this.#bound.get(idOf(namespace, name))?.spec ?? {};
    if (hostPath !== undefined) return { host: hostPath.path, hostType: hostTypeOf(hostPath.type) };
    if (local !== undefined) return { host: local.path, hostType: "Directory" };
    // Names of Kubernetes have no underscore, and those of namespaces no dot, so that two claims never share a directory.
    const directory = name.replaceAll(".", "__");
    return { kept: namespace === "default" ? directory : `${namespace}_${directory}` };
  }

  /** Whether all access modes of the claim are read-only. */
  isReadOnly(namespace: string, name: string): boolean {
    const modes = this.#claims.get(idOf(namespace, name))?.spec.accessModes ?? [];
    return modes.length > 0 && modes.every((mode) => mode === "ReadOnlyMany");
  }
}

function claimsOf({ metadata: { namespace = "default" }, spec: { volumes } }: PodInput): string[] {
  return volumes.flatMap(({ persistentVolumeClaim: claim }) => (claim === undefined ? [] : [idOf(namespace, claim.claimName)]));
}

function idOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function sizeOf({ spec: { capacity } }: PersistentVolumeInput): string | number {
  return capacity.storage;
}

/** A missing directory is created, like the directory of a claim without a volume. */
function hostTypeOf(type: string): NonNullable<Source["hostType"]> {
  return type === "Directory" ? "Directory" : "DirectoryOrCreate";
}

/** Source: Kubernetes, "Persistent Volumes", "Binding". */
function fits(volume: PersistentVolumeInput, { resources, accessModes, storageClassName = "", selector }: ClaimSpec): boolean {
  const { spec, metadata } = volume;
  const wanted = resources.requests.storage;
  return (
    spec.storageClassName === storageClassName &&
    (wanted === undefined || compareQuantities(sizeOf(volume), wanted) >= 0) &&
    accessModes.every((mode) => spec.accessModes.includes(mode)) &&
    Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => metadata.labels?.[key] === value)
  );
}
