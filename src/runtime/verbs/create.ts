/** create and run: compile, execute, and undo everything if anything fails. */
import { type CgroupBefore, levelsToMake } from "../cgroup/index.ts";
import { type Beginning, beginCreate } from "../execute/beginning.ts";
import { execute, newExecution } from "../execute/execute.ts";
import type { Execution } from "../execute/execution.ts";
import { tellParsed } from "../execute/head-start.ts";
import { hooksRecord } from "../execute/hooks.ts";
import { existingCgroup, terminalRules } from "../execute/on-demand.ts";
import { onFailure } from "../execute/on-failure.ts";
import { showProgress } from "../execute/progress.ts";
import * as host from "../host/index.ts";
import { loadedNow } from "../host/lazy.ts";
import { phase } from "../host/tracing.ts";
import type { ParsedListener } from "../prepare/bundle.ts";
import { type Compiled, compileBundle } from "../prepare/compile.ts";
import { execRecord } from "../prepare/exec-defaults.ts";
import type { CreateOptions, RuntimeOptions } from "../prepare/options.ts";
import { checkTerminal } from "../prepare/terminal.ts";
import type { StateRecord } from "../state/index.ts";
import { refuseExisting, STATE_MINOR, STATE_SCHEMA } from "../state/index.ts";

/**
 * Make the container. Returns what a foreground run has to look after.
 * @param beginning what the caller has begun already
 * @param meanwhile is called while init becomes the program
 */
export function create(
  options: RuntimeOptions,
  request: CreateOptions,
  beginning = beginCreate(request.preserveFds, request.expectPlan === undefined),
  meanwhile?: (execution: Execution) => void,
): Execution {
  const execution = prepare(options, request, beginning);
  if (meanwhile) execution.meanwhile = () => meanwhile(execution);
  phase?.("execute");
  try {
    execute(execution);
  } catch (error) {
    phase?.("undo");
    throw onFailure().undone(execution, request.id, error);
  }
  return execution;
}

/** Everything before the first operation; of it only the helper, which waits for the plan, is outside of this process. */
function prepare(options: RuntimeOptions, request: CreateOptions, beginning: Beginning): Execution {
  const { progress, helper } = beginning;
  try {
    const compiled = compileFor(options, request, (value) => {
      if (progress && helper) tellParsed(helper, progress, options, request, value);
    });
    checkTerminal(compiled.config, request);
    if (compiled.config.process?.terminal && request.consoleSocket === undefined && !request.unattended) {
      terminalRules().requireOwnTerminal("process.terminal", { pointer: "/process/terminal" });
    }
    refuseExisting(options.root, request.id);
    const execution = newExecution(options.root, compiled.plan, () => {
      const before = compiled.cgroup ? lookBefore(options.root, request.id, compiled.cgroup) : {};
      return intentRecord(compiled, request, before);
    });
    execution.forExec = () => execRecord(compiled.config, !request.noNewKeyring);
    execution.progress = progress ?? showProgress();
    execution.configText = compiled.configText;
    if (compiled.demanded.length > 0) execution.demanded.push(...compiled.demanded);
    if (helper) execution.ahead = helper;
    delete beginning.helper;
    return execution;
  } catch (error) {
    beginning.end();
    throw error;
  }
}

/** Another create of the same id may have been quicker: then that is the reason why the cgroup is in use. */
function lookBefore(root: string, id: string, cgroup: NonNullable<Compiled["cgroup"]>): CgroupBefore {
  try {
    return levelsToMake(cgroup) ?? existingCgroup().refuseUsed(cgroup);
  } catch (error) {
    refuseExisting(root, id);
    throw error;
  }
}

function compileFor(options: RuntimeOptions, request: CreateOptions, parsed: ParsedListener): Compiled & { readonly digest?: string } {
  if (request.expectPlan === undefined) return compileBundle(options, request, undefined, parsed);
  // Few ask for it: loaded for them only.
  return loadedNow(import("../prepare/expect-plan.ts")).compileExpected(options, request, request.expectPlan);
}

export function intentRecord(
  { config, cgroup, resctrl, warnings, digest }: ReturnType<typeof compileFor>,
  { id, bundle }: CreateOptions,
  before: CgroupBefore,
): StateRecord {
  return {
    schema: STATE_SCHEMA,
    minor: STATE_MINOR,
    id,
    phase: "creating",
    ociVersion: config.ociVersion,
    bundle,
    rootfs: config.rootfs,
    created: timestamp(),
    owner: host.geteuid(),
    pid: 0,
    startTime: "0",
    // What a summary has comes first (src/runtime/state/record.ts).
    annotations: config.annotations,
    // Of a unit's cgroup systemd knows what is to be left.
    ...(cgroup ? { cgroup: { ...cgroup, ...(cgroup.systemd ? {} : before) } } : {}),
    ...(resctrl ? { resctrl } : {}),
    startable: config.process !== undefined,
    privatePid: config.namespaces.some(({ type, path }) => type === "pid" && path === undefined),
    exec: NOT_YET,
    ...hooksRecord(config.hooks),
    ...(digest === undefined ? {} : { planDigest: digest }),
    warnings,
  };
}

/** There is no exec while the container is being made. */
const NOT_YET = { unknown: true, namespaces: [], chroot: false, keyring: false } as const;

/** RFC 3339 with nanoseconds, UTC. */
export function timestamp(): string {
  const { seconds, nanoseconds } = host.now();
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(nanoseconds).padStart(9, "0")}Z`;
}
