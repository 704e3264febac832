import type { OciObject } from "../../executor/index.ts";
import type { ContainerSpec } from "../spec/index.ts";

/** Whether the user mounts something at this path, in the task file or in config.json of a bundle. */
export function isMountedAt(path: string, { mounts }: ContainerSpec, config: OciObject | undefined): boolean {
  const configured = Array.isArray(config?.["mounts"]) ? (config["mounts"] as readonly OciObject[]) : [];
  return mounts.some(({ target }) => target === path) || configured.some(({ destination }) => destination === path);
}
