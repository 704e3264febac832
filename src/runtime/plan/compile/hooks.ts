/** Hooks as operations, each at its place (config, POSIX-platform hooks). Those of other verbs are kept in the state record. */
import { O } from "../../../shared/linux/index.ts";
import { MESSAGES, NO_SLOT, type OpArgs, SLOT } from "../../../shared/protocol/index.ts";
import type { HookKind } from "../../config/index.ts";
import type { Phase } from "../plan.ts";
import type { Scope } from "./scope.ts";
import { hookFilter } from "./seccomp.ts";

/** The first two kinds run in the runtime's namespaces when the mounts are made, the third in the container's, all before the pivot. */
export function addCreateHooks(scope: Scope): void {
  const { builder, config } = scope;
  builder.begin("pivot");
  const { prestart, createRuntime, createContainer } = config.hooks;
  if (!prestart && !createRuntime && !createContainer) return;
  const state = stateOf(scope, "creating");
  if (prestart || createRuntime) {
    builder.add("init", "hooks", "sync.send", { message: MESSAGES.hooks });
    builder.add("runtime", "hooks", "sync.wait", { message: MESSAGES.hooks });
    addHooks(scope, "runtime", "hooks", "prestart", { ...state, cwd: config.bundle });
    addHooks(scope, "runtime", "hooks", "createRuntime", { ...state, cwd: config.bundle });
    builder.add("runtime", "hooks", "sync.send", { message: MESSAGES.resume });
    builder.add("init", "hooks", "sync.wait", { message: MESSAGES.resume });
  }
  addHooks(scope, "init", "hooks", "createContainer", { ...state, directory: SLOT.ROOT });
}

/** Where `start` finds why a startContainer hook failed. */
export function startReportPath(stateDirectory: string): string {
  return `${stateDirectory}/start.error`;
}

/** The intermediate opens the report before the clone, if such a hook can outlive the runtime. */
export function addStartReport({ builder, config, host, invocation }: Scope): void {
  if (!config.hooks.startContainer || invocation.mode !== "create") return;
  const slot = builder.slotFor(START_REPORT);
  const path = startReportPath(host.stateDirectory);
  builder.add("intermediate", "namespaces", "file.open", { path, flags: O.WRONLY | O.CREAT | O.EXCL, slot }, "/hooks/startContainer");
}

/** The slot of that report. */
export function startReport({ builder }: Scope): number | undefined {
  return builder.slotOf(START_REPORT);
}

const START_REPORT = "start report";

/** In the container, as the process itself: its user, its rights, its filter, its environment unless they have their own. */
export function addStartContainerHooks(scope: Scope, env: readonly string[], isFiltered: boolean): void {
  if (!scope.config.hooks.startContainer) return;
  const place = {
    ...stateOf(scope, "created"),
    ...hookFilter(scope, isFiltered),
    env,
    home: true,
    inheritEnv: false,
    report: startReport(scope) ?? NO_SLOT,
  };
  addHooks(scope, "init", "commit", "startContainer", place);
}

/** `run` starts the program itself; after `create` the verb `start` takes these from the state record. */
export function addPoststartHooks(scope: Scope): void {
  const { builder, config, invocation } = scope;
  if (invocation.mode !== "run" || !config.process) return;
  builder.add("runtime", "commit", "sync.end", {});
  if (!config.hooks.poststart) return;
  addHooks(scope, "runtime", "commit", "poststart", { ...stateOf(scope, "running"), cwd: config.bundle });
}

function stateOf({ config, invocation }: Scope, status: "creating" | "created" | "running"): HookState {
  const { ociVersion, bundle, annotations } = config;
  return hookState({ ociVersion, id: invocation.id, bundle, annotations }, status);
}

/** `place` holds what differs between the kinds; an environment of the hook's own wins over it. */
function addHooks(
  { builder, config }: Scope,
  actor: "runtime" | "init",
  phase: Phase,
  kind: HookKind,
  place: HookState & Partial<OpArgs<"hook.run">>,
) {
  for (const [index, hook] of (config.hooks[kind] ?? []).entries()) {
    const { path, args, env, timeout } = hook;
    const own = env && { env, inheritEnv: false, home: false };
    builder.add(actor, phase, "hook.run", { kind, index, path, args, timeout, ...NOWHERE, ...place, ...own }, `/hooks/${kind}/${index}`);
  }
}

const NOWHERE = {
  env: [],
  inheritEnv: true,
  home: false,
  cwd: "",
  directory: NO_SLOT,
  report: NO_SLOT,
  filtered: false,
  filterFlags: 0,
  raise: false,
} as const;

/** The state document that a hook gets on stdin (runtime, state): what stands before and behind the pid, which each actor knows as it sees it. */
export interface HookSubject {
  readonly ociVersion: string;
  readonly id: string;
  readonly bundle: string;
  readonly annotations: Readonly<Record<string, string>>;
}

interface HookState {
  readonly statePrefix: string;
  readonly stateSuffix: string;
}

export function hookState(subject: HookSubject, status: "creating" | "created" | "running" | "stopped"): HookState {
  const { ociVersion, id, bundle, annotations } = subject;
  const before = JSON.stringify({ ociVersion, id, status });
  const after = JSON.stringify({ bundle, ...(Object.keys(annotations).length > 0 && { annotations }) });
  return { statePrefix: `${before.slice(0, -1)},"pid":`, stateSuffix: `,${after.slice(1)}` };
}
