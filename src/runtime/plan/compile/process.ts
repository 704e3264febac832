import { RLIMIT } from "../../../shared/linux/index.ts";
import { CLAIM_MOST, claimOperations, TEMPLATE } from "../../../shared/protocol/index.ts";
import { isTemplate } from "./fifo.ts";
import { addStartContainerHooks, startReport } from "./hooks.ts";
import { maySetGroups } from "./id-maps.ts";
import { addLabels } from "./labels.ts";
import type { Scope } from "./scope.ts";
import { addLoad, capabilitiesForFilter } from "./seccomp.ts";

/** stdin, stdout, stderr. */
const STDIO = 3;

/** The settings of the process itself; everything that can fail does so before `ready`. */
export function addProcess(scope: Scope): void {
  const { builder, config, invocation } = scope;
  const { process } = config;
  // It is known at start.
  const isGiven = isTemplate(scope);
  builder.begin("process");
  if (process) {
    builder.add("init", "process", "process.umask", { mask: process.umask }, "/process/user/umask");
    if (!process.terminal) builder.add("init", "process", "process.stdioOwner", { uid: process.uid }, "/process/user/uid");
    if (process.noNewPrivileges) builder.add("init", "process", "process.noNewPrivileges", {}, "/process/noNewPrivileges");
    addLabels(scope);
    const capabilities = process.capabilities;
    builder.begin("boundingSet");
    addBoundingSet(scope);
    builder.begin("user");
    if (!isGiven) builder.add("init", "process", "process.cwd", { path: process.cwd }, "/process/cwd");
    if (isGiven || !environmentHas(process.env, "HOME")) builder.add("init", "process", "process.home", { uid: process.uid });
    addPolicies(scope);
    if (!scope.inUserNamespace) addRlimits(scope, "init");
    builder.add(
      "init",
      "process",
      "process.user",
      { uid: process.uid, gid: process.gid, groups: process.additionalGids, setgroups: !process.keepGroups && maySetGroups(scope) },
      "/process/user",
    );
    if (capabilities) {
      const { bounding, effective, inheritable } = capabilities;
      const permitted = capabilities.permitted | capabilitiesForFilter(scope);
      // capabilities(7): no other can be raised. The checks have said so; init would have to say it again while everybody waits.
      const ambient = capabilities.ambient & capabilities.permitted & inheritable;
      builder.add("init", "process", "capability.set", { bounding, effective, permitted, inheritable, ambient }, "/process/capabilities");
    }
    const program = { name: process.args[0] ?? "", path: environmentValue(process.env, "PATH") };
    if (!isGiven) builder.add("init", "process", "process.program", program, "/process/args/0");
  }
  const report = startReport(scope);
  builder.add("init", "process", "descriptors.sweep", {
    first: STDIO + invocation.preserveFds + invocation.listenFds,
    keep: report === undefined ? [] : [report],
  });
}

/** After `commit`: wait for start (create), then become the program. `isFiltered`: init has loaded the system call filter already. */
export function addExecve(scope: Scope, isFiltered: boolean): void {
  const { builder, config, invocation } = scope;
  if (isTemplate(scope)) {
    const claim = { operations: claimOperations(config.template!), most: CLAIM_MOST };
    builder.add("init", "commit", "process.claim", claim, `/annotations/${TEMPLATE}`);
  } else if (invocation.mode === "create") builder.add("init", "commit", "process.wait", {});
  if (!config.process) return;
  const env = programEnvironment(config.process.env);
  if (invocation.listenFds > 0) env.push(`LISTEN_FDS=${invocation.listenFds}`, "LISTEN_PID=1");
  addStartContainerHooks(scope, env, isFiltered);
  if (!isFiltered) addLoad(scope);
  builder.add("init", "commit", "process.exec", { args: config.process.args, env }, "/process/args");
}

/** Of programs that are executed from then on: hooks in the container, the process. */
function addBoundingSet({ builder, config }: Scope): void {
  const capabilities = config.process?.capabilities;
  if (!capabilities) return;
  builder.add("init", "process", "capability.bounding", { mask: capabilities.bounding }, "/process/capabilities/bounding");
}

/** As with runc an empty HOME is as none: the one that process.home finds takes its place. */
function programEnvironment(env: readonly string[]): string[] {
  return env.includes("HOME=") ? env.filter((entry) => entry !== "HOME=") : [...env];
}

function environmentHas(env: readonly string[], name: string): boolean {
  return environmentValue(env, name) !== "";
}

function environmentValue(env: readonly string[], name: string): string {
  const prefix = `${name}=`;
  return env.find((entry) => entry.startsWith(prefix))?.slice(prefix.length) ?? "";
}

/** How the kernel treats the process: as late as the rights for it allow, because it holds for init's own work too. */
function addPolicies({ builder, config }: Scope): void {
  const { process, memoryPolicy, personality } = config;
  if (process?.scheduler) {
    const { nice, ...attributes } = process.scheduler;
    builder.add("init", "process", "process.scheduler", { ...attributes, nice: BigInt(nice) }, "/process/scheduler");
  }
  if (process?.ioPriority) builder.add("init", "process", "process.ioPriority", process.ioPriority, "/process/ioPriority");
  if (memoryPolicy) builder.add("init", "process", "process.memoryPolicy", memoryPolicy, "/linux/memoryPolicy");
  if (personality !== undefined) builder.add("init", "process", "process.personality", { domain: personality }, "/linux/personality");
}

/** They come as late as the rights for them allow, because they bind init's own work too. */
export function addRlimits({ builder, config }: Scope, actor: "init" | "runtime"): void {
  for (const { type, soft, hard, from } of config.process?.rlimits ?? []) {
    const resource = RLIMIT[type];
    if (resource === undefined) throw new TypeError(`rlimit type ${type} was not checked`);
    builder.add(actor, actor === "init" ? "process" : "commit", "process.rlimit", { resource, soft, hard }, from);
  }
}
