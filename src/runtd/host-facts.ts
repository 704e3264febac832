/** Measures the resources of this host and how much of them is free. Source: statfs(2), proc(5). */
import { readFileSync, statfsSync, statSync } from "node:fs";
import { hostname, networkInterfaces, release, totalmem } from "node:os";
import type { HostFacts } from "../pod/index.ts";
import { VERSION } from "./version.ts";

/**
 * Synchronous, because Node closes the connection of a client that half-closes it before the response is ready.
 * @param stateDir directory on the file system to measure, which the store uses. @throws the error of statfs(2)
 */
export function hostFacts(stateDir: string): HostFacts {
  const disk = statfsSync(stateDir);
  return {
    name: hostname().toLowerCase(),
    addresses: hostAddresses(),
    architecture: process.arch,
    kernel: release(),
    version: VERSION,
    measuredMs: Date.now(),
    memory: { bytes: totalmem(), availableBytes: availableMemory(readFileSync("/proc/meminfo", "utf8")) ?? 0 },
    disk: { bytes: disk.blocks * disk.bsize, availableBytes: disk.bavail * disk.bsize, files: disk.files, freeFiles: disk.ffree },
    processes: {
      most: Number(readFileSync("/proc/sys/kernel/pid_max", "utf8")),
      used: processesIn(readFileSync("/proc/loadavg", "utf8")) ?? 0,
    },
  };
}

/** IPv4 addresses first, without loopback and link-local addresses. */
export function hostAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  const outside = all.filter(({ internal, address }) => !internal && !address.startsWith("fe80:"));
  return [...outside.filter(({ family }) => family === "IPv4"), ...outside.filter(({ family }) => family === "IPv6")].map(
    ({ address }) => address,
  );
}

/** In bytes. Lists that keep names of advertisers away are larger. */
const LARGEST_HOSTS = 64 * 1024;

/** Content of /etc/hosts; null: it is too large; undefined: there is none. */
export function hostsFile(path = "/etc/hosts"): string | null | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true) return undefined;
  return found.size > LARGEST_HOSTS ? null : readFileSync(path, "utf8");
}

/** MemAvailable in bytes; undefined: the text has no such line. Source: proc(5), /proc/meminfo. */
export function availableMemory(text: string): number | undefined {
  const kibibytes = /^MemAvailable:\s+(\d+) kB$/m.exec(text)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

/** Number of threads and processes; undefined: the text has another form. Source: proc(5), /proc/loadavg. */
export function processesIn(text: string): number | undefined {
  const found = /^\S+ \S+ \S+ \d+\/(\d+) /.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}
