#!/usr/bin/env node
/** `runtd`: sets options of V8's heap before the program is loaded, because loading also produces garbage. */
import { setFlagsFromString } from "node:v8";

// The daemon runs for a long time, mostly waits, and keeps a few kilobytes for each task, so a small heap is better than a fast one. By default V8
// collects the old generation only after tens of megabytes of garbage, and lets the young generation grow to 32 MiB.
setFlagsFromString("--optimize-for-size");
await import("./program.ts");
