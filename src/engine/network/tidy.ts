/** Finds network resources of unknown tasks on the host: after a crash, with a damaged record, or after the state directory was restored. */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { output } from "./command.ts";
import { pinnedBelow, unpinNamespace } from "./namespace.ts";
import { type RuleOwner, sweepRules } from "./rules.ts";

export interface JanitorOptions {
  /** Directory of files that namespaces are bound to. */
  readonly namespaces: string;
  readonly leases: string;
  /** Of the names of this engine's networks. */
  readonly prefix: string;
  readonly timeoutMs: number;
}

/** Files of namespaces: those that are bound to, and those that never were or are no longer. @throws NetworkError, the errors of the system calls */
export async function tidyNamespaces({ namespaces, timeoutMs }: JanitorOptions, isKnown: (id: string) => boolean): Promise<void> {
  const files = existsSync(namespaces) ? readdirSync(namespaces).map((name) => join(namespaces, name)) : [];
  const all = new Set([...files, ...pinnedBelow(namespaces)]);
  for (const path of all) if (!isKnown(basename(path))) await unpinNamespace(path, timeoutMs);
}

/** host-local keeps a file for each address: the id of who has it, then the interface. @throws the errors of the system calls */
export function tidyLeases({ leases, prefix }: JanitorOptions, isKnown: (id: string) => boolean): void {
  const networks = existsSync(leases) ? readdirSync(leases).filter((name) => name.startsWith(prefix)) : [];
  for (const directory of networks.map((name) => join(leases, name))) {
    for (const address of readdirSync(directory).filter((name) => /^[0-9a-f.:]+$/.test(name))) {
      const [id = ""] = readFileSync(join(directory, address), "utf8").split(/\r?\n/);
      if (!isKnown(id)) rmSync(join(directory, address), { force: true });
    }
  }
}

/** @throws NetworkError program-missing, program-failed */
export async function tidyRules({ prefix, timeoutMs }: JanitorOptions, isKnown: (id: string) => boolean): Promise<void> {
  await sweepRules(({ network, id }: RuleOwner) => network.startsWith(`${prefix}-`) && !isKnown(id), timeoutMs);
}

/** Bridges that no task is behind, with what is plugged into them. @throws NetworkError program-missing, program-failed */
export async function tidyBridges(unused: readonly string[], timeoutMs: number): Promise<void> {
  for (const bridge of unused) {
    const links = await output("ip", ["-o", "link", "show"], timeoutMs);
    if (!new RegExp(`^\\d+: ${bridge}:`, "m").test(links)) continue;
    for (const [, name] of links.matchAll(new RegExp(`^\\d+: ([^:@]+)[@:].* master ${bridge} `, "gm"))) {
      await output("ip", ["link", "delete", name!], timeoutMs);
    }
    await output("ip", ["link", "delete", bridge], timeoutMs);
  }
}
