/** Inputs and result of reading a project. */
import type { Finding, Problem, ReadDocument } from "../../engine/spec/index.ts";
import type { Environment } from "./interpolate.ts";

export interface ComposeOptions {
  /** Variables of the caller, for "${NAME}" in the file and for variables without a value. */
  readonly environment: Environment;
  /** Absolute directory to which paths in the file are relative. */
  readonly directory: string;
  /** Active profiles. */
  readonly profiles: readonly string[];
  /** Prefix for image names without a registry, such as "oci:/srv/images". Absent: docker.io. */
  readonly images?: string | undefined;
  /**
   * Whether things that depend on the host (files of secrets, variables, the architecture) may be missing: they are then warnings and no errors.
   * Absent: no.
   */
  readonly mayLack?: boolean | undefined;
  /** Reads a file named by env_file, secrets, configs, include or extends; the path is absolute. @throws the error of open(2) or read(2) */
  readonly readFile: (path: string) => Buffer;
}

/** All files of a project, merged into one. */
export interface Model {
  readonly value: unknown;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Finds the position of a problem of `value` in the files. */
  place(problem: Problem): Finding;
}

/** One document of a file, in the order in which they are merged. */
export interface Layer {
  readonly document: ReadDocument;
  readonly file: string | undefined;
}

/** The service that another one extends, from which it inherits fields. */
export interface Base {
  readonly layer: Layer;
  readonly service: string;
}
