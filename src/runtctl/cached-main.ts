#!/usr/bin/env node
/**
 * dist/runtctl/main.js: runs the programs beside it (tools/bundle-client.ts), client.js, which is main.ts in one file, and parsers.js, when a verb needs it. Compiling client.js takes 5 ms
 * of each start; client.cache has what V8 has made of it when it was built. Another V8 than that one rejects it, and compiles.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import type { Program } from "./program-function.ts";

let parsers: Promise<unknown> | undefined;

run("client", () => (parsers ??= Promise.resolve(run("parsers"))));

/** Returns what the program exports. */
function run(name: string, load?: () => Promise<unknown>): unknown {
  const url = new URL(`${name}.js`, import.meta.url);
  const path = fileURLToPath(url);
  // It has ASCII only, which is read sooner as Latin-1.
  const source = readFileSync(path, "latin1");
  const cachedData = cacheOf(name, source);
  const script = new Script(source, { filename: path, ...(cachedData && { cachedData }) });
  return (script.runInThisContext() as Program)(createRequire(path), load, url.href);
}

/** V8 compares the length of the source only, so that both begin with its digest. undefined: there is none of this source. */
function cacheOf(name: string, text: string): Buffer | undefined {
  try {
    const cache = readFileSync(new URL(`${name}.cache`, import.meta.url));
    const digest = text.slice(0, text.indexOf("\n") + 1);
    return cache.toString("latin1", 0, digest.length) === digest ? cache.subarray(digest.length) : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
