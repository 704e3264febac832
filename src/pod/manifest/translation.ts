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
  /** Its first address; absent: it has none, or the file is only looked at. */
  readonly address?: string | undefined;
  /** Prefix for image names without a registry, such as "oci:/srv/images". */
  readonly images?: string | undefined;
  /** Set for pods of a cluster: their tasks are named by uid, and they may only do what these rules allow. */
  readonly cluster?: ClusterRules;
  /** Names of the runtimes of the host; absent: they are not known, so that any name is accepted. */
  readonly runtimes?: readonly string[];
  /** Names of those of them that make virtual machines. */
  readonly machines?: readonly string[];
  /** Whether what is for a cluster only is left out, and told of (cluster-fields.ts). */
  readonly ignoresClusterFields?: boolean;
  /** Directory of the filters of system calls that a profile of the type Localhost names; absent: a kubelet's. */
  readonly seccompProfiles?: string | undefined;
  /** The sizes of pods that the host offers; absent: any size. */
  readonly sizes?: readonly PodSize[] | undefined;
}

/** What the documents of a file have in common. */
export interface FileParts {
  readonly objects: Objects;
  readonly claims: Claims;
  readonly services: Services;
  readonly host: PodHost;
  readonly expansion: Expansion;
  /** How many devices of a kind containers have. */
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

  /** @param file what the file to which the pod belongs has for all of them */
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

  get namespace(): string {
    return this.pod.metadata.namespace ?? "default";
  }

  /** A text with its references replaced. One that grows too long is refused, and what is returned then is of no use. */
  expand(text: string, values: Readonly<Record<string, string>>, path: Path): string {
    try {
      return expand(text, values, this.#expansion);
    } catch (error) {
      if (!(error instanceof TooLong)) throw error;
      if (!this.#problems.some(({ code }) => code === "limit")) this.refuse(error.message, path, "limit");
      return "";
    }
  }

  /** Names in CDI of devices that no other container of the file has. */
  devices(kind: string, count: number): string[] {
    const first = this.#devices.get(kind) ?? 0;
    this.#devices.set(kind, first + count);
    return Array.from({ length: count }, (_, index) => `${kind}=${first + index}`);
  }

  refuse(message: string, path: Path, code: Problem["code"] = "combination"): void {
    this.#problems.push({ code, message, path });
  }
}

/** Expands "$(NAME)" in commands, arguments and values. */
const REFERENCE = /\$\$|\$\(([^()\s]+)\)/g;

/** "$$" becomes "$", so that "$$(NAME)" gives the text "$(NAME)". A reference to an unknown name stays as it is, as in Kubernetes. @throws TooLong */
function expand(text: string, values: Readonly<Record<string, string>>, expansion: Expansion): string {
  return text.replace(REFERENCE, (all: string, name: string | undefined) => {
    if (name === undefined) return "$";
    if (!Object.hasOwn(values, name)) return all;
    const value = values[name]!;
    expansion.take(value.length);
    return value;
  });
}
