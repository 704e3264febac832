/** What several parts of the container config are made of. */

/** A value with the JSON pointer in config.json that asked for it. */
export interface From {
  readonly from: string;
}

export type NamespaceType = "user" | "mount" | "pid" | "network" | "ipc" | "uts" | "cgroup" | "time";

/** New (path undefined) or joined by path. */
export interface NamespaceConfig extends From {
  readonly type: NamespaceType;
  readonly path?: string;
}

export interface IdMapping {
  readonly containerId: number;
  readonly hostId: number;
  readonly size: number;
}

export interface IdMappings {
  readonly uidMappings: readonly IdMapping[];
  readonly gidMappings: readonly IdMapping[];
}
