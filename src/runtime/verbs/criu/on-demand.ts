/** checkpoint and restore, which nobody pays for who does not call them. */
import { loadedNow } from "../../host/lazy.ts";
import type * as checkpointing from "../checkpoint.ts";
import type * as restoring from "../restore.ts";

export function checkpoint(): typeof checkpointing {
  return loadedNow(import("../checkpoint.ts"));
}

export function restore(): typeof restoring {
  return loadedNow(import("../restore.ts"));
}
