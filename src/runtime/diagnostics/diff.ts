/** diff: the effective settings of two sides, each a bundle, a config.json or a container. */
import { type Difference, differences, type Effective, effectiveSettings } from "../config/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { type RuntimeOptions, readConfig } from "../prepare/index.ts";
import { readRecord } from "../state/index.ts";
import { configOf, keptConfig } from "./inspect/index.ts";

export type { Difference };

/** @throws RuntError for a side that cannot be read */
export function compare(options: RuntimeOptions, before: string, after: string): Difference[] {
  return differences(settingsOf(options, before), settingsOf(options, after));
}

/** What has a slash or is a directory here is a bundle; anything else is an id. */
function settingsOf(options: RuntimeOptions, side: string): Effective {
  const found = host.stat(side);
  if (found !== undefined && found.mode >> 12 === 4) return settingsOfFile(`${side}/config.json`, host.realpath(side));
  if (found !== undefined || side.includes("/")) return settingsOfFile(side, host.realpath(parentOf(side)));
  return settingsOfContainer(options, side);
}

function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "." : path.slice(0, slash) || "/";
}

function settingsOfFile(path: string, bundle: string): Effective {
  return effectiveSettings(configOf(readConfig(path), bundle));
}

function settingsOfContainer({ root }: RuntimeOptions, id: string): Effective {
  const config = keptConfig(root, readRecord(root, id));
  if (config) return effectiveSettings(config);
  throw new RuntError("state-unreadable", `container ${id}: its configuration was not kept`);
}
