/** Modules of this room that few calls need. */
import { loadSync } from "../host/index.ts";
import type * as remaining from "./remains.ts";

/** For what no sound record describes. */
export function remains(): typeof remaining {
  return loadSync(import("./remains.ts"));
}
