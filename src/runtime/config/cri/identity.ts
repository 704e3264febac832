/**
 * What a container is to the engine above it: the sandbox of a pod, a container in one, or neither. Three managers of Kubernetes say so in
 * annotations, each in its own.
 */

export type PodRole = "sandbox" | "container";

export interface Manager {
  readonly name: string;
  readonly typeKey: string;
  readonly idKey: string;
}

/** In the order in which they are looked for: the first whose annotation is there counts. */
export const MANAGERS: readonly Manager[] = [
  { name: "containerd", typeKey: "io.kubernetes.cri.container-type", idKey: "io.kubernetes.cri.sandbox-id" },
  { name: "cri-o", typeKey: "io.kubernetes.cri-o.ContainerType", idKey: "io.kubernetes.cri-o.SandboxID" },
  { name: "dockershim", typeKey: "io.kubernetes.docker.type", idKey: "io.kubernetes.sandbox.id" },
];

/** The words of all of them. */
const ROLES: Readonly<Record<string, PodRole>> = { sandbox: "sandbox", podsandbox: "sandbox", container: "container" };

export type Annotations = Readonly<Record<string, string>>;

/** One of the annotations as it stands. */
export interface Found {
  readonly manager: Manager;
  readonly key: string;
  readonly value: string;
}

/** undefined: a word that none of them uses. */
export function roleOf(word: string): PodRole | undefined {
  return Object.hasOwn(ROLES, word) ? ROLES[word] : undefined;
}

/** Every annotation that says what the container is (typeKey) or which sandbox it belongs to (idKey). */
export function findAll(annotations: Annotations | null | undefined, which: "typeKey" | "idKey"): readonly Found[] {
  return MANAGERS.flatMap((manager) => {
    const key = manager[which];
    const value = annotations && Object.hasOwn(annotations, key) ? annotations[key] : undefined;
    return value === undefined ? [] : [{ manager, key, value }];
  });
}
