/** The directories of unpacked layers. */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { removeScratch } from "../volumes/index.ts";
import type { Places } from "./places.ts";

/** Succeeds if it does not exist. Removing takes a while: what is half removed must not be found under its name. */
export async function removeLayer(places: Places, name: string): Promise<void> {
  const trash = join(places.staging, `trash-${name}`);
  try {
    renameSync(join(places.layers, name), trash);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  await removeScratch(trash);
}
