/** Writes hosts, hostname and resolv.conf of each task. The files are bind-mounted into containers, so that they must be written in place, not replaced. */
import { chmodSync, closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileContents, hostsOf, hostsSaid, type Named, NETWORK_FILES } from "../plan/index.ts";
import type { TaskSpec } from "../spec/index.ts";

const HOST_RESOLV = "/etc/resolv.conf";

/** `addresses` have prefix lengths. @throws the errors of the system calls */
export function writeFiles(directory: string, spec: TaskSpec, addresses: readonly string[]): void {
  const { name, network } = spec;
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const contents = fileContents({
    names: [name, ...(network?.aliases ?? [])],
    addresses: addresses.map(withoutPrefix),
    hosts: hostsSaid(spec, addresses),
    dns: network?.dns,
    hostResolv: textOf(HOST_RESOLV),
  });
  for (const file of NETWORK_FILES) {
    writeFileSync(join(directory, file), contents[file]);
    // Every user of a container must be able to read them, whatever the umask of this process.
    chmodSync(join(directory, file), 0o644);
  }
}

/** Writes the hosts file, including the names of other tasks. `addresses` have prefix lengths. */
export function writeHosts(directory: string, spec: TaskSpec, addresses: readonly string[], peers: readonly Named[]): void {
  const { name, network } = spec;
  const further = [...hostsSaid(spec, addresses), ...peers];
  const text = Buffer.from(hostsOf([name, ...(network?.aliases ?? [])], addresses.map(withoutPrefix), further));
  // Opened without O_TRUNC, because a container that reads the file at this moment must not find it empty.
  const fd = openSync(join(directory, "hosts"), "r+");
  try {
    writeSync(fd, text, 0, text.length, 0);
    ftruncateSync(fd, text.length);
  } finally {
    closeSync(fd);
  }
}

export function withoutPrefix(address: string): string {
  return address.split("/")[0]!;
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
