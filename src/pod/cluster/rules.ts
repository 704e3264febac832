/** What this host allows pods of a cluster to do. */
export interface ClusterRules {
  /** Host directories below which pods may mount paths; empty: none. */
  readonly hostPaths: readonly string[];
  /** bridge: each pod is attached to a bridge on the host. none: pods have only loopback. */
  readonly network: "bridge" | "none";
}
