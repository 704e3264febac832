/** What `runt gc` finds: things that runt has made and that belong to no container any more. */
/** One thing, and what gc thinks of it; `key` is the same when it is found again. `processes`: of others, who are left alone. Host pids. */
export type Remains = {
  readonly key: string;
  readonly id?: string;
  readonly paths: readonly string[];
  readonly processes?: readonly number[];
} & (
  | { readonly kind: "cgroup"; readonly id: string; readonly kept: readonly string[]; readonly unit?: string }
  | { readonly kind: "level" }
  /** A directory of the state root whose create did not come to an end; `created` as its record has it, if it has one. */
  | { readonly kind: "state"; readonly id: string; readonly inode: bigint; readonly created?: string }
  | { readonly kind: "cache" }
) & { readonly reason: string };

/** Something that might be one of them, but is not to be touched. */
export interface Kept {
  readonly kind: Remains["kind"];
  readonly id: string;
  readonly paths: readonly string[];
  readonly reason: string;
  /** Host pids. */
  readonly processes?: readonly number[];
}

export interface Look {
  readonly remains: readonly Remains[];
  readonly kept: readonly Kept[];
  /** Other state roots that cgroups of runt name. */
  readonly otherRoots: readonly string[];
}
