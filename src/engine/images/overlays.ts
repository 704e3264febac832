/**
 * How overlays are mounted. Nothing that is written into one has to be synced by its mount: what a container writes into its root file system goes with it, and after a power cut it has another
 * one; layers are synced when they are unpacked (unsynced.ts). Without `volatile` the kernel gives the disk whatever anybody has written to the file system below, each time that an overlay is
 * unmounted.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { removeScratch } from "../volumes/index.ts";
import { ImageError } from "./errors.ts";
import type { Places } from "./places.ts";
import { runTool } from "./tool.ts";

/** volatile: without syncs, which takes Linux 5.10. none: there are no overlays. */
export type Overlays = "volatile" | "synced" | "none";

/** The beginning of the options of a mount. */
export function flagsOf(overlays: Overlays): string {
  return overlays === "volatile" ? "volatile," : "";
}

const TRY = 'for flag in volatile, ""; do mount -t overlay overlay -o "$flag$1" merged && echo "with $flag" && exit; done';

/** What the file system of the state directory carries: tried in a mount namespace of its own. */
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
