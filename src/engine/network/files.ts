/** hosts, hostname and resolv.conf of each task: bound into its containers, so they are always written in place. */
import { chmodSync, closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileContents, hostsOf, type Named, NETWORK_FILES } from "../plan/index.ts";
import type { TaskSpec } from "../spec/index.ts";

const HOST_RESOLV = "/etc/resolv.conf";

/** `addresses` without prefixes. Errors are those of the system calls. */
export function writeFiles(directory: string, { name, network }: TaskSpec, addresses: readonly string[]): void {
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const contents = fileContents({
    names: [name, ...(network?.aliases ?? [])],
    addresses,
    dns: network?.dns,
    hostResolv: textOf(HOST_RESOLV),
  });
  for (const file of NETWORK_FILES) {
    writeFileSync(join(directory, file), contents[file]);
    // Every user of a container reads them, whatever the umask of this process takes away.
    chmodSync(join(directory, file), 0o644);
  }
}

/** With the names of others. */
export function writeHosts(directory: string, { name, network }: TaskSpec, addresses: readonly string[], peers: readonly Named[]): void {
  const text = Buffer.from(hostsOf([name, ...(network?.aliases ?? [])], addresses, peers));
  // Never empty: somebody may read it now.
  const fd = openSync(join(directory, "hosts"), "r+");
  try {
    writeSync(fd, text, 0, text.length, 0);
    ftruncateSync(fd, text.length);
  } finally {
    closeSync(fd);
  }
}

export function removeFiles(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
