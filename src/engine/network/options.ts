/** What TaskNetworks takes. */
import type { ChosenFilterOptions } from "./filter/chosen.ts";
import type { ResolverOptions } from "./resolver.ts";

export interface TaskNetworksOptions {
  /** Directory for names, address leases and results. */
  readonly directory: string;
  /** Directory of the files to which network namespaces are bound. After a reboot the files may remain, but nothing is bound to them. */
  readonly namespaces: string;
  /** A key that no other engine of this host has. It is part of all names. */
  readonly key: string;
  readonly bootId: string;
  /** Directories of the CNI plugins; undefined: the directories that distributions use. */
  readonly cniPath: readonly string[] | undefined;
  /** `program`: path of aardvark-dns; undefined: where distributions have it. */
  readonly resolver: Pick<ResolverOptions, "program" | "cgroup">;
  readonly filter: Pick<ChosenFilterOptions, "choice" | "identity" | "onChosen" | "onWarning">;
  /** Milliseconds for one call of a plugin or program. */
  readonly timeoutMs: number | undefined;
  /** Path of runt-pause. @throws PauseNotFoundError */
  readonly helper: () => string;
}

export interface Provision {
  /** File of the user namespace that owns it. */
  readonly users: string | undefined;
  /** Whether a process may join its namespace before the interfaces are in it. */
  readonly isEarly: boolean;
  /** Whether it may ask the resolver: what runs in it has no loopback of its own. */
  readonly asks: boolean;
  /** Why no bridge can reach what runs in it, although the host may be able to make one; undefined: one can. */
  readonly lacks?: string | undefined;
}

export interface Provided {
  /** With prefix lengths. */
  readonly addresses: readonly string[];
  /** Why the task has only loopback (NetworkSpec.fallback). */
  readonly lacks?: string;
}

/** How one network is made. */
export interface Making {
  /** File of the user namespace that owns it. */
  readonly users: string | undefined;
  /** Called when a process may join the namespace. */
  readonly open: () => void;
  /** Why the task has only loopback. */
  readonly lacks?: string;
}
