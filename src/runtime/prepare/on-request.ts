/** What the other rooms seldom ask of this one: loaded when they do. */
import { loadSync } from "../host/index.ts";
import type * as recordings from "./host-facts/choose.ts";
import type * as joins from "./join-machine.ts";
import type * as unreadable from "./unreadable-config.ts";

/** For a host that is a file. */
export function recordedHosts(): typeof recordings {
  return loadSync(import("./host-facts/choose.ts"));
}

/** For a configuration that cannot be read. */
export function unreadableFile(): typeof unreadable {
  return loadSync(import("./unreadable-config.ts"));
}

/** For a further process in a machine. */
export function machineJoin(): typeof joins {
  return loadSync(import("./join-machine.ts"));
}
