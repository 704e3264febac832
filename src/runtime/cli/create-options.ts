/** The flags that create, run and plan share -> CreateOptions. */

import { RuntError } from "../errors/index.ts";
import { type Beginning, beginCreate } from "../execute/beginning.ts";
import * as host from "../host/index.ts";
import type { CreateOptions } from "../prepare/options.ts";
import { absolutePath, text, type VerbContext } from "./context.ts";
import type { CommandLine, FlagValues } from "./parse.ts";

/** The first thing that create and run do; undefined where nothing is made, or there is more to be done first. */
export function begin({ flags }: Pick<CommandLine, "flags">): Beginning | undefined {
  if (flags["dry-run"] || flags["exit-record"] !== undefined || flags["expect-plan"] !== undefined) return undefined;
  return beginCreate(preservedFds(flags), true);
}

export function createOptions({ flags }: VerbContext, id: string, mode: CreateOptions["mode"]): CreateOptions {
  const consoleSocket = text(flags["console-socket"]);
  const pidFile = text(flags["pid-file"]);
  const pidfdSocket = text(flags["pidfd-socket"]);
  const configFile = text(flags["config"]);
  const cgroupParent = text(flags["cgroup-parent"]);
  return {
    id,
    bundle: bundleDirectory(text(flags["bundle"])),
    mode,
    detach: flags["detach"] === true,
    noPivot: flags["no-pivot"] === true,
    noNewKeyring: flags["no-new-keyring"] === true,
    preserveFds: preservedFds(flags),
    ...(typeof flags["expect-plan"] === "string" && { expectPlan: flags["expect-plan"] }),
    ...(cgroupParent === undefined ? {} : { cgroupParent }),
    ...(consoleSocket ? { consoleSocket: absolutePath(consoleSocket) } : {}),
    ...(pidFile ? { pidFile: absolutePath(pidFile) } : {}),
    ...(pidfdSocket ? { pidfdSocket: absolutePath(pidfdSocket) } : {}),
    ...(configFile && configFile !== "config.json" ? { configFile: absolutePath(configFile) } : {}),
  };
}

function preservedFds(flags: FlagValues): number {
  return typeof flags["preserve-fds"] === "number" ? flags["preserve-fds"] : 0;
}

/** Without links, as the peers have it: what `state` and hooks are told shall be the place also when a link has changed. */
function bundleDirectory(given: string | undefined): string {
  const bundle = absolutePath(given ?? ".");
  let fd: number;
  try {
    fd = host.open(bundle, host.O.PATH | host.O.DIRECTORY);
  } catch (error) {
    throw new RuntError("config-read", `bundle ${bundle}: ${host.reason(error as host.HostError)}`, { cause: error });
  }
  const place = host.readlink(`/proc/self/fd/${fd}`);
  host.close(fd);
  return place;
}
