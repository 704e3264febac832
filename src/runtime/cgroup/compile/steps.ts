/** What a container's cgroup needs, as data: the cgroup part of a plan. */

export interface CgroupWrite {
  /** Absolute path of the cgroup file. */
  readonly path: string;
  readonly value: string;
  /** JSON pointer in config.json that asked for it. */
  readonly from: string;
}

export interface CgroupSteps {
  /** The container's directory in each hierarchy. */
  readonly create: readonly { readonly path: string }[];
  /** Hybrid hosts: its directory in the v2 hierarchy, to be made before the others. */
  readonly unified?: string;
  /** In the order in which they must be written. */
  readonly writes: readonly CgroupWrite[];
  /** v1: the tasks file of every hierarchy; v2, and the v2 hierarchy of a hybrid host: the directory, for CLONE_INTO_CGROUP. */
  readonly join: { readonly tasks: readonly string[]; readonly directory?: string } | { readonly directory: string };
  /** v2 only: rules of the form type:major:minor:access:allow|deny. */
  readonly devices?: { readonly path: string; readonly rules: readonly string[] };
  /** Values that have no effect on this host, one text each. */
  readonly warnings: readonly string[];
}

export interface CgroupOptions {
  /** No rights on the host: what the kernel reserves for the host's root (device rules) is left out with a warning. */
  readonly rootless: boolean;
}
