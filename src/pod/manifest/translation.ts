/** The inputs of a translation, which all parts of a pod share. */
import type { Problem } from "../../engine/spec/index.ts";
import { type Expansion, TooLong } from "../expansion.ts";
import type { PodInput } from "../schema/pod.ts";
import type { PodSize } from "../sizes.ts";
import type { Claims } from "./claims.ts";
import type { Objects } from "./objects.ts";
import type { Services } from "./services.ts";
import type { PodRules } from "./workload.ts";

/** What this host allows pods of a cluster to do. */
export interface ClusterRules {
  /** Host directories below which pods may mount paths; empty: none. */
  readonly hostPaths: readonly string[];
  /** bridge: each pod is attached to a bridge on the host. none: pods have only loopback. */
  readonly network: "bridge" | "none";
}

/** Facts about the host that a pod may refer to. */
export interface PodHost {
  readonly name: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  /** As in the label kubernetes.io/arch, such as "amd64"; absent: it is unknown, and any is accepted. */
  readonly architecture?: string;
  /** Its first address; absent: it has none, or the file is only checked. */
  readonly address?: string | undefined;
  /** Content of its /etc/hosts, for pods in its network; null: it is too large; absent: it is not known. */
  readonly hosts?: string | null | undefined;
  /** Names of its credentials of registries; absent: they are not known. */
  readonly credentials?: readonly string[] | undefined;
  /** Prefix for image names without a registry, such as "oci:/srv/images". */
  readonly images?: string | undefined;
  /** Set for pods of a cluster. Their tasks are named by uid, and they may do only what these rules allow. */
  readonly cluster?: ClusterRules;
  /** Names of the host's runtimes; absent: they are unknown, and any name is accepted. */
  readonly runtimes?: readonly string[];
  /** Names of the runtimes that make virtual machines. */
  readonly machines?: readonly string[];
  /** Whether fields for a cluster only are left out with a warning (cluster-fields.ts). */
  readonly ignoresClusterFields?: boolean;
  /** Directory of the seccomp profiles that the type Localhost names; absent: that of a kubelet. */
  readonly seccompProfiles?: string | undefined;
  /** The sizes of pods that the host offers; absent: any size. */
  readonly sizes?: readonly PodSize[] | undefined;
}

/** State that the documents of a file share. */
export interface FileParts {
  readonly objects: Objects;
  readonly claims: Claims;
  readonly services: Services;
  readonly host: PodHost;
  readonly expansion: Expansion;
  /** Number of devices of each kind that containers have so far. */
  readonly devices: Map<string, number>;
}

export type Path = readonly (string | number)[];

export class Translation {
  readonly pod: PodInput;
  readonly objects: Objects;
  readonly host: PodHost;
  readonly claims: Claims;
  readonly services: Services;
  readonly rules: PodRules;
  readonly #expansion: Expansion;
  readonly #devices: Map<string, number>;
  readonly #problems: Problem[] = [];
  readonly #warnings: Problem[] = [];

  /** @param file state of the file to which the pod belongs */
  constructor(pod: PodInput, file: FileParts, rules: PodRules = {}) {
    this.#expansion = file.expansion;
    this.#devices = file.devices;
    this.rules = rules;
    this.pod = pod;
    this.objects = file.objects;
    this.claims = file.claims;
    this.services = file.services;
    this.host = file.host;
  }

  get problems(): readonly Problem[] {
    return this.#problems;
  }

  get warnings(): readonly Problem[] {
    return this.#warnings;
  }

  get namespace(): string {
    return this.pod.metadata.namespace ?? "default";
  }

  /** Replaces the references in a text. If the text grows too long, that is reported, and the result is useless. */
  expand(text: string, values: Readonly<Record<string, string>>, path: Path): string {
    try {
      return expand(text, values, this.#expansion);
    } catch (error) {
      if (!(error instanceof TooLong)) throw error;
      if (!this.#problems.some(({ code }) => code === "limit")) this.refuse(error.message, path, "limit");
      return "";
    }
  }

  /** CDI names of devices that no other container of the file has. */
  devices(kind: string, count: number): string[] {
    const first = this.#devices.get(kind) ?? 0;
    this.#devices.set(kind, first + count);
    return Array.from({ length: count }, (_, index) => `${kind}=${first + index}`);
  }

  refuse(message: string, path: Path, code: Problem["code"] = "combination"): void {
    this.#problems.push({ code, message, path });
  }

  /** Tells of what is accepted, but has no effect, or another one than in a cluster. */
  warn(message: string, path: Path): void {
    this.#warnings.push({ code: "shape", message, path });
  }
}

/** Expands "$(NAME)" in commands, arguments and values. */
const REFERENCE = /\$\$|\$\(([^()\s]+)\)/g;

/**
 * "$$" becomes "$", so that "$$(NAME)" gives the text "$(NAME)". A reference to an unknown name is not replaced, as in Kubernetes.
 * @throws TooLong
 */
function expand(text: string, values: Readonly<Record<string, string>>, expansion: Expansion): string {
  return text.replace(REFERENCE, (all: string, name: string | undefined) => {
    if (name === undefined) return "$";
    if (!Object.hasOwn(values, name)) return all;
    const value = values[name]!;
    expansion.take(value.length);
    return value;
  });
}
