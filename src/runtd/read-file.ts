/** Parses the text of a file into tasks. Pods are translated with the facts of this host. */
import { hostname } from "node:os";
import type { Engine, ParsedFile } from "../engine/index.ts";
import { type PodHost, parseFile } from "../pod/index.ts";

export function readFile(text: string, engine: Engine): ParsedFile {
  return parseFile(text, hostOf(engine));
}

/** What pods may ask of this host. */
export function hostOf({ node: { ledger } }: Engine): PodHost {
  return {
    name: hostname().toLowerCase(),
    cpus: ledger.cpus.capacity,
    memoryBytes: ledger.memoryBytes.capacity,
    images: process.env["RUNT_IMAGES"] || undefined,
  };
}
