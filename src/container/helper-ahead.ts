/**
 * The helper is started as soon as the container's namespaces are known, and makes a new network namespace while the plan is still compiled:
 * both take as long as that. It holds nothing but itself and dies with this process, so nothing has been done to the host yet. Where it
 * cannot be started ahead, or the plan wants another, `helper.spawn` starts one.
 */
import type { ContainerConfig } from "../config/types.ts";
import * as host from "../host/index.ts";
import { CLONE_NEW, MESSAGES, type OpArgs, type Plan } from "../plan/index.ts";
import type { Progress } from "./progress.ts";
import { endChildren } from "./reap.ts";

export interface HelperAhead {
  readonly pid: number;
  readonly socket: number;
  /** Namespaces (CLONE_NEW*) it was told to make. */
  readonly namespaces: number;
}

export function startAhead(config: ContainerConfig, progress: Progress): HelperAhead | undefined {
  // What is made before a user namespace is entered would not be owned by it.
  if (config.namespaces.some(({ type }) => type === "user")) return undefined;
  const isNew = config.namespaces.some(({ type, path }) => type === "network" && path === undefined);
  const namespaces = isNew ? CLONE_NEW.network : 0;
  const pair: number[] = [];
  try {
    pair.push(...host.socketpair());
    const [socket = -1, theirs = -1] = pair;
    const pid = host.spawnHelperAhead(["plan", String(theirs), "ahead", String(progress.fd), String(namespaces)], [theirs, progress.fd]);
    host.close(theirs);
    return { pid, socket, namespaces };
  } catch (error) {
    if (!(error instanceof Error && "errno" in error)) throw error;
    for (const fd of pair) host.close(fd);
    return undefined;
  }
}

/** Hand the plan over. False: it needs another helper, and this one is gone. */
export function handOver(
  helper: HelperAhead,
  { ops }: Plan,
  plan: number,
  { cgroup }: OpArgs<"helper.spawn">,
  environment: boolean,
): boolean {
  const clone = ops[host.findNext(ops, "op", "process.clone", 0)];
  const flags = clone ? (clone.args as OpArgs<"process.clone">).flags : 0;
  if (host.helperAheadRuns() && cgroup === "" && !environment && (helper.namespaces & ~flags) === 0) {
    try {
      host.sendMessage(helper.socket, MESSAGES.plan, plan);
      return true;
    } catch (error) {
      if (!host.isErrno(error, "EPIPE", "ECONNRESET")) throw error;
    }
  }
  endAhead(helper);
  return false;
}

export function endAhead({ pid, socket }: HelperAhead): void {
  endChildren({ socket, helper: pid, pid: 0 });
}
