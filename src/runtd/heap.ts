/** How V8 manages the heap of the daemon. */
import { setFlagsFromString } from "node:v8";

/**
 * Prefers a small heap to a fast one. The daemon lives long, mostly waits, and keeps a few kilobytes for each task. By default V8 lets tens of megabytes of
 * garbage stay before it collects the old generation for the first time, and lets the young generation grow to 32 MiB.
 */
export function keepHeapSmall(): void {
  setFlagsFromString("--optimize-for-size");
}
