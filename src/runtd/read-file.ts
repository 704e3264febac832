/** Text that is applied -> tasks: pods are translated as this host is. */
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
