/** Interface of an engine to the runner. */
import type { Scenario, Step } from "./scenario.ts";

export interface Place {
  /** Everything on disk is below it. */
  readonly directory: string;
  /** Archive of images (image.ts). */
  readonly archive: string;
  /** Whether containers can be given limits. */
  readonly hasControllers: boolean;
  /** Name of the cgroup below which engines are asked to put their containers, without slash. */
  readonly cgroup: string;
}

/** An engine that runs, with one runtime. */
export interface Engine {
  /** Command line of a client call. */
  command(args: readonly string[]): readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute cgroup path of a container, as the hierarchies have it. */
  cgroupPath(container: string): string;
  /** Change the resources of a running container behind the client's back. */
  update?(container: string, resources: string): Promise<void>;
  /** End the daemon by the signal and start it again. */
  restart?(signal?: NodeJS.Signals): Promise<void>;
  /** Start a container with the runtime named (its own, or another if it knows all) and remove it. Returns the start's milliseconds. */
  timedStart?(container: string, runtime: string): Promise<number>;
  /** All that the engine does for a container with the runtime named, and its removal. Returns the milliseconds until what `whole` says. */
  timedWhole?(container: string, runtime: string): Promise<number>;
  /** Remove what a scenario may have left. */
  clean(container: string): Promise<void>;
  /** Replaced in steps: flags that are the same in every call. */
  expand(step: Step): readonly string[];
  stop(): Promise<void>;
}

export interface EngineDefinition {
  readonly name: string;
  readonly scenarios: readonly Scenario[];
  /** Things that the engine needs and the host lacks. */
  readonly missing?: string | undefined;
  /** Name of what timedStart() measures. */
  readonly timed?: string | undefined;
  /** Name of what timedWhole() measures. */
  readonly whole?: string | undefined;
  /** One engine measures every runtime: there cannot be two of it at a time. */
  readonly knowsAllRuntimes?: true;
  /** `runtime`: absolute path; its base name is the runtime's name. */
  start(place: Place, runtime: string): Promise<Engine>;
}

export const IMAGE = "localhost/runt-test:1";
