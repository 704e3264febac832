/** What this host has, and how much of it is free, as the kernel says it. */
import { readFileSync, statfsSync } from "node:fs";
import { hostname, networkInterfaces, release, totalmem } from "node:os";
import type { HostFacts } from "../pod/index.ts";
import { VERSION } from "./version.ts";

/**
 * Looked up at once: Node closes the connection of a client that has closed its half before it was answered.
 * @param stateDir whose file system counts, which the store waits for as well. @throws the error of statfs(2)
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

/** Those of IPv4 first; neither loopback nor of a link. */
export function hostAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  const outside = all.filter(({ internal, address }) => !internal && !address.startsWith("fe80:"));
  return [...outside.filter(({ family }) => family === "IPv4"), ...outside.filter(({ family }) => family === "IPv6")].map(
    ({ address }) => address,
  );
}

/** Bytes; undefined: it does not say. Source: proc(5), /proc/meminfo. */
export function availableMemory(text: string): number | undefined {
  const kibibytes = /^MemAvailable:\s+(\d+) kB$/m.exec(text)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

/** Threads and processes. Source: proc(5), /proc/loadavg. */
export function processesIn(text: string): number | undefined {
  const found = /^\S+ \S+ \S+ \d+\/(\d+) /.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}
