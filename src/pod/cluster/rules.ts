/** What this host lets pods of others do. */
export interface ClusterRules {
  /** Directories of the host that they may have below them; empty: none. */
  readonly hostPaths: readonly string[];
  /** bridge: each is behind a bridge of the host. none: loopback only. */
  readonly network: "bridge" | "none";
}
