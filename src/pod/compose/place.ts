/** The inputs of the translation of one service. */
import type { Environment } from "./interpolate.ts";

/** Where a container of a service is. */
export interface Place {
  readonly task: string;
  readonly container: string;
}

export interface ServicePlace {
  readonly environment: Environment;
  /** Absolute directory to which paths in the file are relative. */
  readonly directory: string;
  readonly images: string | undefined;
  /** @throws the error of open(2) or read(2) */
  readonly readFile: (path: string) => Buffer;
  /** Whether a service of this name is enabled by the active profiles. */
  readonly isActive: (service: string) => boolean;
  /** The tasks that a service of the file is, or is in. */
  readonly containersOf: (service: string) => readonly Place[];
  /** The image of the service, if it is built here: for this service or another one. */
  readonly built: string | undefined;
  /** @param path within the service */
  readonly refuse: (message: string, path: readonly (string | number)[]) => void;
  /** Refuses what cannot be had where the file is applied, and may be right somewhere else. */
  readonly lacks: (message: string, path: readonly (string | number)[]) => void;
  /** Tells of what is accepted and is not as its author may expect. */
  readonly warn: (message: string, path: readonly (string | number)[]) => void;
  /** Called with each directory of the host that Compose makes if it is missing. */
  readonly needs: (directory: string) => void;
}

/** A service, volume or network may have dots in its name, and begin with others; a task, a kept volume and a network of the engine may not. */
export function engineName(key: string): string {
  return key
    .replaceAll(".", "-")
    .replace(/^[_-]+/, "")
    .replace(/[_-]+$/, "");
}
