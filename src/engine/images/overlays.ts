/**
 * Finds out how overlays can be mounted. An overlay itself needs no syncs: a container's changes to its root file system are removed with the
 * container, and after a power failure the container gets a new one; layers are synced when they are unpacked (unsynced.ts). Without `volatile`,
 * each unmount of an overlay makes the kernel sync everything that any program has written to the underlying file system.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { removeScratch } from "../volumes/index.ts";
import { ImageError } from "./errors.ts";
import type { Places } from "./places.ts";
import { runTool } from "./tool.ts";

/** volatile: without syncs, which needs Linux 5.10. synced: with syncs. none: this file system does not support overlays. */
export type Overlays = "volatile" | "synced" | "none";

/** Options that come first in a mount. */
export function flagsOf(overlays: Overlays): string {
  return overlays === "volatile" ? "volatile," : "";
}

const TRY = 'for flag in volatile, ""; do mount -t overlay overlay -o "$flag$1" merged && echo "with $flag" && exit; done';

/** Finds out what the file system of the state directory supports, by mounting an overlay in a mount namespace of its own. */
export async function overlaysOn(places: Places): Promise<Overlays> {
  const directory = join(places.staging, `probe-${process.pid}`);
  for (const name of ["lower", "upper", "work", "merged"]) mkdirSync(join(directory, name), { recursive: true });
  try {
    const attempt = ["sh", "-c", TRY, "sh", "lowerdir=lower,upperdir=upper,workdir=work"];
    const said = await runTool("unshare", ["--mount", "--propagation", "private", ...attempt], { cwd: directory });
    return said.includes("volatile") ? "volatile" : "synced";
  } catch (error) {
    if (!(error instanceof ImageError)) throw error;
    return "none";
  } finally {
    await removeScratch(directory);
  }
}
