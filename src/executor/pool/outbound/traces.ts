/** What a pool whose boxes have a way out keeps on disk. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { removeOwnFile, writeOwnFile } from "../../../node/index.ts";
import type { PoolTemplate } from "../options.ts";
import { RESOLVER } from "./rules.ts";

const MARK = "outbound";

/** Before the first trace of a network: a box that its owner has left in between is not as one that only waits. @param directory of its executor */
export function mark(directory: string): void {
  writeOwnFile(join(directory, MARK), "");
}

export function isMarked(directory: string): boolean {
  return existsSync(join(directory, MARK));
}

/** The template, with a file that names the resolver of its boxes over their /etc/resolv.conf. */
export function withResolver(template: PoolTemplate, stateDir: string): PoolTemplate {
  const { launch, outbound } = template;
  if (outbound === undefined) return template;
  const source = join(stateDir, "resolv.conf");
  const mount = { destination: "/etc/resolv.conf", type: "bind", source, options: ["bind", "ro", "nosuid", "nodev", "noexec"] };
  return { ...template, launch: { ...launch, mounts: [...(launch.mounts ?? []), mount] } };
}

/** For the containers that are made from now on. The owner of the pool calls it. */
export function writeResolver(stateDir: string): void {
  const path = join(stateDir, "resolv.conf");
  removeOwnFile(path);
  writeOwnFile(path, `nameserver ${RESOLVER}\n`, 0o644);
}
