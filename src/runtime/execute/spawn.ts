/** The operation helper.spawn: the plan goes to the helper of the head start, or to a new one. */

import { HELPER_ACTORS, type OpArgs, PLAN_MAGIC, PLAN_NAME } from "../../shared/protocol/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { type Op, SHAPES } from "../plan/index.ts";
import type { Execution } from "./execution.ts";
import { adopt } from "./head-start/index.ts";

export function spawn(execution: Execution, args: OpArgs<"helper.spawn">): void {
  const { asked, running } = execution;
  const { version, slots, ops } = asked.plan;
  const plan = host.memfd(PLAN_NAME, host.packPlan(PLAN_MAGIC, version, slots, SHAPES, HELPER_ACTORS, ops));
  const environment = inheritsEnvironment(ops);
  const early = asked.headStart && adopt(asked.headStart, asked.plan, { plan, cgroup: args.cgroup, environment });
  if (early) {
    running.socket = early.socket;
    running.helper = early.pid;
  } else spawnNow(execution, args, plan, environment);
  asked.progress?.helper(running.helper);
  // `inspect` reads it there, for as long as this process lives.
  if (!asked.progress) host.close(plan);
}

function spawnNow(
  { asked: { progress }, running }: Execution,
  { cgroup }: OpArgs<"helper.spawn">,
  plan: number,
  environment: boolean,
): void {
  const [ours, theirs] = host.socketpair();
  running.socket = ours;
  const directory = cgroup === "" ? undefined : openCgroup(cgroup);
  const fds = [theirs, plan, ...(progress ? [progress.fd] : [])];
  running.helper = host.spawnHelper(["plan", ...fds.map(String)], fds, directory, environment);
  if (directory !== undefined) host.close(directory);
  host.close(theirs);
}

/** The cgroup of v2 in which the helper begins. The error has runc's words, which clients look for. */
function openCgroup(path: string): number {
  try {
    return host.open(path, host.O.PATH | host.O.DIRECTORY);
  } catch (error) {
    const words = `unable to start container process: error adding pid ${host.getpid()} to cgroups`;
    throw new RuntError("operation", `${words}: ${path}: ${host.reason(error)}`, { cause: error });
  }
}

/** What init is to hand on to a hook that has no environment of its own. */
function inheritsEnvironment(ops: readonly Op[]): boolean {
  for (let at = host.findNext(ops, "op", "hook.run", 0); at >= 0; at = host.findNext(ops, "op", "hook.run", at + 1)) {
    const { actor, args } = ops[at]!;
    if (actor === "init" && (args as OpArgs<"hook.run">).inheritEnv) return true;
  }
  return false;
}
