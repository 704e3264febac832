/** The flags that create, run and plan share -> CreateOptions. */

import { RuntError, WORDS } from "../errors/index.ts";
import { begin, cancel, type HeadStart } from "../execute/head-start/index.ts";
import * as host from "../host/index.ts";
import { type CreateOptions, defined } from "../prepare/index.ts";
import { absolutePath, text, type VerbContext } from "./context.ts";
import type { CommandLine, FlagValues } from "./parse.ts";

/** For a head start that comes to nothing. */
export const cancelEarly = cancel;

/** The first thing that create and run do; undefined where nothing is made, or run begins after it has left its caller. */
export function beginEarly({ flags }: Pick<CommandLine, "flags">): HeadStart | undefined {
  if (flags["dry-run"] || flags["exit-record"] !== undefined) return undefined;
  return begin(preservedFds(flags), flags["expect-plan"] === undefined);
}

export function createOptions({ flags }: VerbContext, id: string, mode: CreateOptions["mode"]): CreateOptions {
  const path = (name: string): string | undefined => (flags[name] ? absolutePath(flags[name] as string) : undefined);
  const resizeFifo = text(flags["resize-fifo"]);
  const deadlineFifo = text(flags["deadline-fifo"]);
  if (deadlineFifo !== undefined && flags["exit-record"] === undefined) throw new RuntError("usage", WORDS.deadlineUnused);
  if (flags["output-log"] !== undefined && flags["exit-record"] === undefined) throw new RuntError("usage", WORDS.outputLogUnused);
  return {
    id,
    bundle: bundleDirectory(text(flags["bundle"])),
    mode,
    detach: flags["detach"] === true,
    noPivot: flags["no-pivot"] === true,
    noNewKeyring: flags["no-new-keyring"] === true,
    preserveFds: preservedFds(flags),
    ...defined({
      expectPlan: text(flags["expect-plan"]),
      isolation: text(flags["isolation"]) ?? (host.argv()[0]!.endsWith("runt-vm") ? "vm" : undefined),
      cgroupParent: text(flags["cgroup-parent"]),
      resizeFifo: resizeFifo === undefined ? undefined : absolutePath(resizeFifo),
      deadlineFifo: deadlineFifo === undefined ? undefined : absolutePath(deadlineFifo),
      consoleSocket: path("console-socket"),
      pidFile: path("pid-file"),
      pidfdSocket: path("pidfd-socket"),
      configFile: flags["config"] === "config.json" ? undefined : path("config"),
    }),
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
