/** Parses a file into tasks. Pods are translated with the facts of this host. */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { type Engine, machinesOf, type ParsedFile, warningsOf } from "../engine/index.ts";
import { type PodHost, type PodSize, parseFile, parseSizes } from "../pod/index.ts";
import { hostAddresses, hostsFile } from "./host-facts.ts";

/** Parses in the calling thread, for `--once`. The daemon uses `Files`. */
export function readFile(text: string, engine: Engine): ParsedFile {
  return parseFile(text, hostOf(engine));
}

/** Warnings about a file that is accepted. */
export function warningsIn({ tasks, warnings = [] }: ParsedFile, { support }: Pick<Engine, "support">): string[] {
  return [
    ...warnings.map(({ line, pointer, message }) => `line ${line}: ${pointer}: ${message}`),
    ...warningsOf(tasks, support.networks.lacks),
  ];
}

/** The facts of this host that pods may refer to. */
export function hostOf({ node: { ledger }, support }: Engine): PodHost {
  return {
    name: hostname().toLowerCase(),
    cpus: ledger.cpus.capacity,
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    memoryBytes: ledger.memoryBytes.capacity,
    address: hostAddresses()[0],
    hosts: hostsFile(),
    credentials: support.credentials,
    images: process.env["RUNT_IMAGES"] || undefined,
    seccompProfiles: process.env["RUNT_SECCOMP_PROFILES"] || undefined,
    runtimes: Object.keys(support.runtimes),
    machines: machinesOf(support.runtimes),
    sizes: sizesIn(process.env["RUNT_POD_SIZES"]),
  };
}

/** @throws the error of open(2) or read(2); SyntaxError, z.ZodError: the file is wrong. Then no pod is accepted */
function sizesIn(path: string | undefined): PodSize[] | undefined {
  return path === undefined || path === "" ? undefined : parseSizes(readFileSync(path, "utf8"));
}
