/** Loads what only the end of a machine needs. Apart from on-demand.ts, which verbs load that end nothing. */
import { loadSync } from "../host/index.ts";
import type * as joined from "./thaw-joined.ts";

export function machineEnd(): typeof joined {
  return loadSync(import("./thaw-joined.ts"));
}
