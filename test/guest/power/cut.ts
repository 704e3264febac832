/** A machine that loses its power again and again: QEMU is killed, at a moment that the guest does not know. Its disk "kept" stays. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Boot, type Booted, boot } from "../machine.ts";

/** What the guest says on its console, behind "guest: ". The power goes a little later. */
export const READY_TO_BE_CUT = "ready for the power cut";
const EARLIEST_MS = 100;
const LATEST_MS = 12_000;
const SIZE = "256M";

/** Boots until the guest ends by itself, at most once more than it is cut. What the last boot has left is returned. */
export async function bootUntilEnd(options: Boot, cuts: number): Promise<Booted> {
  const kept = join(options.directory, "kept.img");
  // With a journal, as file systems have it.
  execFileSync("mke2fs", ["-q", "-t", "ext4", kept, SIZE]);
  try {
    for (let left = cuts; ; left--) {
      const booted = await boot({ ...options, kept, line: (text, cut) => watch(options, text, left > 0 ? cut : () => {}) });
      if (!booted.wasCut) return booted;
    }
  } finally {
    rmSync(kept);
  }
}

function watch({ line }: Boot, text: string, cut: () => void): void {
  line(text, cut);
  if (text.includes(READY_TO_BE_CUT)) setTimeout(cut, EARLIEST_MS + Math.random() * (LATEST_MS - EARLIEST_MS));
}
