/** The system call filter: compiled by the runtime, loaded by init as late as its errors can still be told. */
import { capabilityBit } from "../../../shared/linux/index.ts";
import { MESSAGES, type OpArgs } from "../../../shared/protocol/index.ts";
import type { SeccompProfile, SeccompRule } from "../../config/index.ts";
import type { Scope } from "./scope.ts";

const POINTER = "/linux/seccomp";

export function filterPath(stateDirectory: string): string {
  return `${stateDirectory}/seccomp.bpf`;
}

/** While init makes its mounts, the runtime has time. */
export function addFilterPreparation({ builder, config, host }: Scope): void {
  const { process, seccompProfile } = config;
  if (!process || !seccompProfile) return;
  const profile = profileText(seccompProfile);
  const { enosysForNewer } = seccompProfile;
  builder.add("runtime", "process", "seccomp.prepare", { profile, enosysForNewer, path: filterPath(host.stateDirectory) }, POINTER);
}

/** By descriptor: init does not see the host any more. */
export function addFilterHandOver({ builder, config, host }: Scope): void {
  if (!config.process || !config.seccomp) return;
  builder.add("runtime", "process", "seccomp.send", { path: filterPath(host.stateDirectory) }, POINTER);
  builder.add("init", "process", "seccomp.receive", {}, POINTER);
}

/** Capabilities that init has to keep until the filter is loaded: without no_new_privs that is privileged (seccomp(2)). */
export function capabilitiesForFilter({ config }: Scope): bigint {
  return config.seccomp && !config.process?.noNewPrivileges ? capabilityBit("CAP_SYS_ADMIN") : 0n;
}

/**
 * Before `ready`, so that `create` reports a failure: when init waits for `start` and the filter leaves it what it needs for that,
 * and when somebody wants to listen.
 */
export function addEarlyFilter(scope: Scope): void {
  if (!loadsEarly(scope)) return;
  addLoad(scope);
  dropCapabilities(scope);
}

/** Of the first process of a container; a further one always loads it late. */
export function loadsEarly({ config, invocation }: Scope): boolean {
  const { process, seccomp, hooks, template } = config;
  if (!process || !seccomp) return false;
  return (
    seccomp.listener !== undefined ||
    (invocation.mode === "create" && seccomp.roomForInit && hooks.startContainer === undefined && template === undefined)
  );
}

/** How a hook in the container gets the filter of the program: it loads it itself, so that init can still report and end a hook without it. */
export function hookFilter(scope: Scope, isLoaded: boolean): Pick<OpArgs<"hook.run">, "filtered" | "filterFlags" | "raise"> {
  const { process, seccomp } = scope.config;
  // One that init has loaded is inherited.
  if (!process || !seccomp || isLoaded) return { filtered: false, filterFlags: 0, raise: false };
  return { filtered: true, filterFlags: seccomp.flags, raise: !process.noNewPrivileges };
}

/** Late, it is the last step before execve(2), which takes the capability kept for it away. */
export function addLoad(scope: Scope): void {
  const { builder, config } = scope;
  if (!config.process || !config.seccomp) return;
  const { flags, listener } = config.seccomp;
  const raise = !config.process.noNewPrivileges;
  builder.add("init", "commit", "seccomp.load", { flags, raise, listener: listener !== undefined }, POINTER);
  if (!listener) return;
  const pointer = `${POINTER}/listenerPath`;
  builder.add("runtime", "commit", "sync.wait", { message: MESSAGES.listener }, pointer);
  builder.add("runtime", "commit", "seccomp.notify", listener, pointer);
}

/** A waiting init has no more rights than its program will have. */
function dropCapabilities(scope: Scope): void {
  const { builder, config } = scope;
  const kept = capabilitiesForFilter(scope);
  const { capabilities, uid } = config.process ?? {};
  const permitted = kept & ~(capabilities ? capabilities.permitted : kept);
  const effective = kept & ~(capabilities ? capabilities.effective : uid === 0 ? kept : 0n);
  if (permitted !== 0n || effective !== 0n)
    builder.add("init", "commit", "capability.drop", { effective, permitted }, "/process/capabilities");
}

/** runc's limit: up to here a list of comparisons is as fast as a tree of them. */
const LINEAR_RULES = 32;
/** SCMP_FLTATR_CTL_OPTIMIZE: a binary tree by system call number. */
const BINARY_TREE = 2;

/**
 * The canonical text of a profile, which `host.seccompCompile` reads and which the cache's key is made of. Unambiguous: every word
 * is a decimal number, a keyword or a name without blank and newline, and everything that influences the filter is in it.
 */
export function profileText({ defaultAction, architectures, rules, idle }: SeccompProfile): string {
  const lines = [`default ${defaultAction}`, ...architectures.map((token) => `arch ${token}`)];
  if (rules.reduce((sum, { names }) => sum + names.length, 0) > LINEAR_RULES) lines.push(`optimize ${BINARY_TREE}`);
  if (idle.length > 0) lines.push(`known ${idle.join(" ")}`);
  for (const rule of rules) if (rule.names.length > 0) lines.push(ruleText(rule));
  return `${lines.join("\n")}\n`;
}

function ruleText({ action, names, conditions }: SeccompRule): string {
  const tests = conditions.map(({ index, operator, value, valueTwo }) => `${index}:${operator}:${value}:${valueTwo}`).join(",");
  return `rule ${action} ${tests === "" ? "-" : tests} ${names.join(" ")}`;
}
