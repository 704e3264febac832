/** The inputs of the translation, shared by all parts of a pod. */
import type { Problem } from "../../engine/spec/index.ts";
import type { ClusterRules } from "../cluster/rules.ts";
import type { PodInput } from "../schema/pod.ts";
import type { PodSize } from "../sizes.ts";
import type { Objects } from "./objects.ts";
import type { JobRules } from "./workload.ts";

/** Facts about the host that a pod may refer to. */
export interface PodHost {
  readonly name: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  /** Where images are looked for whose names say no registry, like "oci:/srv/images". */
  readonly images?: string | undefined;
  /** Pods come from a cluster: their tasks are named by their uids, and they may not do more than these rules say. */
  readonly cluster?: ClusterRules;
  /** Sizes of pods that it offers; absent: any. */
  readonly sizes?: readonly PodSize[] | undefined;
}

export type Path = readonly (string | number)[];

export class Translation {
  readonly pod: PodInput;
  readonly objects: Objects;
  readonly host: PodHost;
  /** It is of a job. */
  readonly job: JobRules | undefined;
  readonly #problems: Problem[] = [];

  constructor(pod: PodInput, objects: Objects, host: PodHost, job?: JobRules) {
    this.job = job;
    this.pod = pod;
    this.objects = objects;
    this.host = host;
  }

  get problems(): readonly Problem[] {
    return this.#problems;
  }

  get namespace(): string {
    return this.pod.metadata.namespace ?? "default";
  }

  refuse(message: string, path: Path, code: Problem["code"] = "combination"): void {
    this.#problems.push({ code, message, path });
  }
}
