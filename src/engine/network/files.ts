/** Writes hosts, hostname and resolv.conf of each task. The files are bind-mounted into containers, so that they must be written in place, not replaced. */
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeOwnDirectory, overwriteOwnFile, removeOwnTree } from "../own/index.ts";
import { fileContents, hostsOf, hostsSaid, type Named, NETWORK_FILES } from "../plan/index.ts";
import type { TaskSpec } from "../spec/index.ts";

const HOST_RESOLV = "/etc/resolv.conf";
/** Every user of a container must be able to read them, whatever the umask of this process. */
const MODE = 0o644;
const MODE_OF_DIRECTORY = 0o755;

export interface Addresses {
  /** With prefix lengths. */
  readonly addresses: readonly string[];
  /** Address of the host in the first network. */
  readonly gateway: string | undefined;
}

/** @throws the errors of the system calls */
export function writeFiles(directory: string, spec: TaskSpec, { addresses, gateway }: Addresses, resolves: boolean): void {
  const { name, network } = spec;
  makeOwnDirectory(directory, { mode: MODE_OF_DIRECTORY, parents: MODE_OF_DIRECTORY });
  const contents = fileContents({
    names: [name, ...(network?.aliases ?? [])],
    addresses: addresses.map(withoutPrefix),
    hosts: hostsSaid(spec, gateway),
    dns: network?.dns,
    hostResolv: hostResolv(),
    resolves,
  });
  for (const file of NETWORK_FILES) {
    overwriteOwnFile(join(directory, file), contents[file], MODE);
  }
}

/** Writes the hosts file, including the names of other tasks. */
export function writeHosts(directory: string, spec: TaskSpec, { addresses, gateway }: Addresses, peers: readonly Named[]): void {
  const { name, network } = spec;
  const further = [...hostsSaid(spec, gateway), ...peers];
  const path = join(directory, "hosts");
  // The network is gone with its files.
  lstatSync(path);
  overwriteOwnFile(path, hostsOf([name, ...(network?.aliases ?? [])], addresses.map(withoutPrefix), further), MODE);
}

export function withoutPrefix(address: string): string {
  return address.split("/")[0]!;
}

export function removeFiles(directory: string): void {
  removeOwnTree(directory);
}

export function hostResolv(): string {
  try {
    return readFileSync(HOST_RESOLV, "utf8");
  } catch {
    return "";
  }
}
