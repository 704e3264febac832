/** Parses the text of a file into tasks. Pods are translated with the facts of this host. */
import { hostname } from "node:os";
import type { Engine, ParsedFile } from "../engine/index.ts";
import { parseFile } from "../pod/index.ts";

export function readFile(text: string, { node: { ledger } }: Engine): ParsedFile {
  return parseFile(text, {
    name: hostname().toLowerCase(),
    cpus: ledger.cpus.capacity,
    memoryBytes: ledger.memoryBytes.capacity,
  });
}
