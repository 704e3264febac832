/** The directories of unpacked layers. */
import { lstatSync, renameSync } from "node:fs";
import { join } from "node:path";
import { removeOwnFile } from "../../node/index.ts";
import { removeScratch } from "../volumes/index.ts";
import type { Places } from "./places.ts";

/** A link with its name leads to what somebody else has unpacked, and is none. */
export function hasLayer(places: Places, name: string): boolean {
  return lstatSync(join(places.layers, name), { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Gives what was unpacked its name. What else has the name is removed. */
export function placeLayer(places: Places, name: string, content: string): void {
  if (!hasLayer(places, name)) removeOwnFile(join(places.layers, name));
  renameSync(content, join(places.layers, name));
}

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
