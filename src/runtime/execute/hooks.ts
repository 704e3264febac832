/** The hooks of a container's life after create, from its state record. */

import type { OpArgs } from "../../shared/protocol/index.ts";
import type { HooksConfig } from "../config/index.ts";
import { type HookCall, runHook } from "../hooks/index.ts";
import { hookState } from "../plan/index.ts";
import type { HookRecord, StateRecord } from "../state/index.ts";
import { warn } from "./warn.ts";

/** What later verbs need of the configuration's hooks. */
export function hooksRecord({ startContainer, poststart, poststop }: HooksConfig): Pick<StateRecord, "hooks"> {
  if (!startContainer && !poststart && !poststop) return {};
  return { hooks: { startContainer: startContainer !== undefined, poststart: poststart ?? [], poststop: poststop ?? [] } };
}

/** An operation of a plan. `pid` is init's. */
export function runPlannedHook(args: OpArgs<"hook.run">, pid: number): void {
  const { kind, index, path, timeout, cwd, statePrefix, stateSuffix } = args;
  runHook({
    kind,
    index,
    path,
    args: args.args,
    env: args.inheritEnv ? undefined : args.env,
    timeout,
    cwd,
    state: statePrefix + pid + stateSuffix,
  });
}

/** The first failure ends it. @throws RuntError "hook" */
export function runPoststart(record: StateRecord): void {
  for (const [index, hook] of (record.hooks?.poststart ?? []).entries()) runHook(call(record, "poststart", index, hook));
}

/** Runs all hooks, also after one that fails: nothing is left that could be undone, so a failure is only a line on stderr (config, poststop). */
export function runPoststop(record: StateRecord): void {
  for (const [index, hook] of (record.hooks?.poststop ?? []).entries()) {
    try {
      runHook(call(record, "poststop", index, hook));
    } catch (error) {
      warn((error as Error).message);
    }
  }
}

function call(record: StateRecord, kind: "poststart" | "poststop", index: number, { path, args, env, timeout }: HookRecord): HookCall {
  const stopped = kind === "poststop";
  const { statePrefix, stateSuffix } = hookState(record, stopped ? "stopped" : "running");
  const state = statePrefix + (stopped ? 0 : record.pid) + stateSuffix;
  return { kind, index, path, args, env, timeout, cwd: record.bundle, state };
}
