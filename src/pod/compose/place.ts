/** The inputs of the translation of one service. */
import type { Environment } from "./interpolate.ts";

/** Task and name of a container of a service. */
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
  /** The containers of a service. */
  readonly containersOf: (service: string) => readonly Place[];
  /** The image of the service, if it is built in this project. */
  readonly built: string | undefined;
  /** @param path within the service */
  readonly refuse: (message: string, path: readonly (string | number)[]) => void;
  /** Reports what is missing on this host, but may exist on another one. */
  readonly lacks: (message: string, path: readonly (string | number)[]) => void;
  /** Reports something that is accepted, but behaves differently from what the author may expect. */
  readonly warn: (message: string, path: readonly (string | number)[]) => void;
  /** Called with each host directory that Compose would create if it is missing. */
  readonly needs: (directory: string) => void;
}

/** Converts a name of a service, volume or network. The engine's names have no dots, and begin and end with a letter or digit. */
export function engineName(key: string): string {
  return key
    .replaceAll(".", "-")
    .replace(/^[_-]+/, "")
    .replace(/[_-]+$/, "");
}
