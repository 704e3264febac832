/** config.json for tests: the hello bundle's, changed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./programs.ts";

export interface Mount {
  destination: string;
  type?: string;
  source?: string;
  options?: string[];
  uidMappings?: IdMapping[];
  gidMappings?: IdMapping[];
}

export interface IdMapping {
  containerID: number;
  hostID: number;
  size: number;
}

/** The fields that tests change; everything else is kept as it is. */
export interface Config {
  [field: string]: unknown;
  ociVersion: string;
  hostname?: string;
  process: {
    [field: string]: unknown;
    terminal?: boolean;
    args: string[];
    env: string[];
    cwd: string;
    user: { uid: number; gid: number; umask?: number; additionalGids?: number[] };
    capabilities: Record<string, string[]>;
    rlimits: { type: string; soft: number; hard: number }[];
  };
  root: { path: string; readonly?: boolean };
  mounts: Mount[];
  linux: {
    [field: string]: unknown;
    cgroupsPath: string;
    namespaces: { type: string; path?: string }[];
    resources: Record<string, unknown>;
    sysctl?: Record<string, string>;
    uidMappings?: IdMapping[];
    gidMappings?: IdMapping[];
  };
}

/** A sample bundle's config.json. */
export function sampleConfig(name: string): Config {
  return JSON.parse(readFileSync(join(REPOSITORY, "bundles", name, "config.json"), "utf8"));
}
