/** What the parts of a pod are translated with. */
import type { Problem } from "../../engine/spec/index.ts";
import type { PodInput } from "../schema/pod.ts";
import type { Objects } from "./objects.ts";

/** Of the host, as a pod may ask for it. */
export interface PodHost {
  readonly name: string;
  readonly cpus: number;
  readonly memoryBytes: number;
}

export type Path = readonly (string | number)[];

export class Translation {
  readonly pod: PodInput;
  readonly objects: Objects;
  readonly host: PodHost;
  readonly #problems: Problem[] = [];

  constructor(pod: PodInput, objects: Objects, host: PodHost) {
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
