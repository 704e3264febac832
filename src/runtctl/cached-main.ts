#!/usr/bin/env node
/**
 * dist/runtctl/main.js: runs the program beside it, client.js, which is main.ts in one file (tools/bundle-client.ts). Compiling it takes 5 ms of each
 * start; client.cache has what V8 has made of it when it was built. Another V8 than that one rejects it, and compiles.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";

/** What client.js evaluates to. */
type Program = (require: NodeJS.Require, load: (module: string) => Promise<unknown>, url: string) => void;

const url = new URL("client.js", import.meta.url);
const path = fileURLToPath(url);
// It has ASCII only, which is read sooner as Latin-1.
const source = readFileSync(path, "latin1");
const cachedData = cacheOf(source);
const script = new Script(source, { filename: path, ...(cachedData && { cachedData }) });
(script.runInThisContext() as Program)(createRequire(path), (module) => import(module), url.href);

/** V8 compares the length of the source only, so that both begin with its digest. undefined: there is none of this source. */
function cacheOf(text: string): Buffer | undefined {
  try {
    const cache = readFileSync(new URL("client.cache", import.meta.url));
    const digest = text.slice(0, text.indexOf("\n") + 1);
    return cache.toString("latin1", 0, digest.length) === digest ? cache.subarray(digest.length) : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
