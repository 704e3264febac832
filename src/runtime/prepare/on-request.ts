/** What the other rooms seldom ask of this one: loaded when they do. */
import { loadedNow } from "../host/index.ts";
import type * as recordings from "./host-facts/choose.ts";
import type * as unreadable from "./unreadable-config.ts";

/** For a host that is a file. */
export function recordedHosts(): typeof recordings {
  return loadedNow(import("./host-facts/choose.ts"));
}

/** For a configuration that cannot be read. */
export function unreadableFile(): typeof unreadable {
  return loadedNow(import("./unreadable-config.ts"));
}
