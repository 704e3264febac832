/** Claims of a file and the volumes for them. A claim without a volume of the file is a directory of the group, which is kept. */
import type { Problem, TaskInput } from "../../engine/spec/index.ts";
import { quantityIn } from "../quantity.ts";
import type { ClaimSpec, PersistentVolumeInput } from "../schema/claim.ts";

type Source = Pick<NonNullable<TaskInput["volumes"]>[number], "host" | "hostType" | "kept">;

interface Claim {
  readonly spec: ClaimSpec;
  readonly place: (problem: Problem) => void;
}

export class Claims {
  readonly #claims = new Map<string, Claim>();
  readonly #volumes: PersistentVolumeInput[] = [];
  /** Names of the volumes that claims have, by claim. */
  readonly #bound = new Map<string, PersistentVolumeInput>();

  /** Returns false if there already is one with its name. @param refuse for problems of its document */
  add(namespace: string, name: string, spec: ClaimSpec, refuse: Claim["place"]): boolean {
    const id = idOf(namespace, name);
    if (this.#claims.has(id)) return false;
    this.#claims.set(id, { spec, place: refuse });
    return true;
  }

  /** Returns false if there already is one with its name. */
  addVolume(volume: PersistentVolumeInput): boolean {
    if (this.#volumes.some(({ metadata }) => metadata.name === volume.metadata.name)) return false;
    this.#volumes.push(volume);
    return true;
  }

  /** Gives each claim a volume of the file that fits, the smallest first, as the controller of Kubernetes does. To be called before `sourceOf`. */
  bind(): void {
    const bySize = this.#volumes.toSorted((a, b) => sizeOf(a) - sizeOf(b));
    for (const [id, { spec, place }] of this.#claims) {
      const free = bySize.filter((one) => ![...this.#bound.values()].includes(one));
      const reserved = free.find(({ spec: { claimRef } }) => claimRef !== undefined && idOf(claimRef.namespace, claimRef.name) === id);
      const named = spec.volumeName === undefined ? undefined : free.find(({ metadata }) => metadata.name === spec.volumeName);
      const fitting = () => reserved ?? free.find((one) => one.spec.claimRef === undefined && fits(one, spec));
      const found = spec.volumeName === undefined ? fitting() : named;
      if (spec.volumeName !== undefined && named === undefined)
        place({ code: "unknown-reference", message: `the file has no free volume ${spec.volumeName}`, path: ["spec", "volumeName"] });
      if (found !== undefined) this.#bound.set(id, found);
    }
  }

  /** Where the directory of a claim is. */
  sourceOf(namespace: string, name: string): Source {
    const { hostPath, local } = this.#bound.get(idOf(namespace, name))?.spec ?? {};
    if (hostPath !== undefined) return { host: hostPath.path, hostType: hostTypeOf(hostPath.type) };
    if (local !== undefined) return { host: local.path, hostType: "Directory" };
    // No name of Kubernetes has an underscore: two namespaces never share a directory.
    return { kept: namespace === "default" ? name : `${namespace}_${name}` };
  }

  /** Whether the claim may only be read. */
  isReadOnly(namespace: string, name: string): boolean {
    const modes = this.#claims.get(idOf(namespace, name))?.spec.accessModes ?? [];
    return modes.length > 0 && modes.every((mode) => mode === "ReadOnlyMany");
  }
}

function idOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function sizeOf({ spec: { capacity } }: PersistentVolumeInput): number {
  return quantityIn(capacity.storage);
}

/** A missing directory is made, as that of a claim without a volume is. */
function hostTypeOf(type: string): NonNullable<Source["hostType"]> {
  return type === "Directory" ? "Directory" : "DirectoryOrCreate";
}

/** Source: Kubernetes, "Persistent Volumes", "Binding". */
function fits(volume: PersistentVolumeInput, { resources, accessModes, storageClassName = "", selector }: ClaimSpec): boolean {
  const { spec, metadata } = volume;
  const wanted = resources.requests.storage;
  return (
    spec.storageClassName === storageClassName &&
    (wanted === undefined || sizeOf(volume) >= quantityIn(wanted)) &&
    accessModes.every((mode) => spec.accessModes.includes(mode)) &&
    Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => metadata.labels?.[key] === value)
  );
}
