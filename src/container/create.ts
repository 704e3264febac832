/** create and run: compile, execute, and undo everything if anything fails. */
import { type CgroupBefore, refuseUsed } from "../cgroup/index.ts";
import * as host from "../host/index.ts";
import { loadedNow } from "../host/lazy.ts";
import { phase } from "../host/tracing.ts";
import type { StateRecord } from "../state/index.ts";
import { refuseExisting, STATE_MINOR, STATE_SCHEMA } from "../state/index.ts";
import type { LoadListener } from "./bundle.ts";
import { type Compiled, compileBundle } from "./compile.ts";
import { separateDescriptors } from "./descriptors.ts";
import { execRecord } from "./exec-defaults.ts";
import { type Execution, execute, newExecution } from "./execute.ts";
import { type HelperAhead, startAhead, tellNamespaces } from "./helper-ahead.ts";
import { hooksRecord } from "./hooks.ts";
import { onFailure } from "./on-failure.ts";
import type { CreateOptions, RuntimeOptions } from "./options.ts";
import { type Progress, showProgress } from "./progress.ts";
import { checkTerminal } from "./terminal.ts";

/** Make the container. Returns what a foreground run has to look after; `meanwhile` is called while init becomes the program. */
export function create(options: RuntimeOptions, request: CreateOptions, meanwhile?: (execution: Execution) => void): Execution {
  separateDescriptors(request.preserveFds);
  const execution = prepare(options, request);
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
function prepare(options: RuntimeOptions, request: CreateOptions): Execution {
  let progress: Progress | undefined;
  let helper: HelperAhead | undefined;
  try {
    const compiled = compileFor(options, request, {
      read() {
        progress = showProgress();
        helper = startAhead(progress);
      },
      parsed(spec) {
        if (progress && helper) tellNamespaces(helper, progress, options, request, spec);
      },
    });
    checkTerminal(compiled.config, request);
    refuseExisting(options.root, request.id);
    const execution = newExecution(options.root, compiled.plan, () => {
      const before = compiled.cgroup ? lookBefore(options.root, request.id, compiled.cgroup) : {};
      return intentRecord(compiled, request, before);
    });
    execution.progress = progress ?? showProgress();
    execution.configText = compiled.configText;
    if (helper) execution.ahead = helper;
    return execution;
  } catch (error) {
    if (helper) onFailure().endAhead(helper);
    throw error;
  }
}

/** Another create of the same id may have been quicker: then that is the reason why the cgroup is in use. */
function lookBefore(root: string, id: string, cgroup: NonNullable<Compiled["cgroup"]>): CgroupBefore {
  try {
    return refuseUsed(cgroup);
  } catch (error) {
    refuseExisting(root, id);
    throw error;
  }
}

function compileFor(options: RuntimeOptions, request: CreateOptions, listener: LoadListener): Compiled & { readonly digest?: string } {
  if (request.expectPlan === undefined) return compileBundle(options, request, undefined, listener);
  // Few ask for it: loaded for them only.
  return loadedNow(import("./expect-plan.ts")).compileExpected(options, request, request.expectPlan);
}

export function intentRecord(
  { config, cgroup, resctrl, warnings, digest }: ReturnType<typeof compileFor>,
  { id, bundle, noNewKeyring }: CreateOptions,
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
    // What a summary has comes first (src/state/record.ts).
    annotations: config.annotations,
    // Of a unit's cgroup systemd knows what is to be left.
    ...(cgroup ? { cgroup: { ...cgroup, ...(cgroup.systemd ? {} : before) } } : {}),
    ...(resctrl ? { resctrl } : {}),
    startable: config.process !== undefined,
    privatePid: config.namespaces.some(({ type, path }) => type === "pid" && path === undefined),
    exec: execRecord(config, !noNewKeyring),
    ...hooksRecord(config.hooks),
    ...(digest === undefined ? {} : { planDigest: digest }),
    warnings,
  };
}

/** RFC 3339 with nanoseconds, UTC. */
export function timestamp(): string {
  const { seconds, nanoseconds } = host.now();
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(nanoseconds).padStart(9, "0")}Z`;
}
