#!/usr/bin/env node
/** `runtd`: how V8 manages the heap is set before the program is loaded, because loading leaves garbage too. */
import { setFlagsFromString } from "node:v8";

// Prefers a small heap to a fast one. The daemon lives long, mostly waits, and keeps a few kilobytes for each task. By default V8 lets tens of megabytes
// of garbage stay before it collects the old generation for the first time, and lets the young generation grow to 32 MiB.
setFlagsFromString("--optimize-for-size");
await import("./program.ts");
