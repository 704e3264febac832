import { closeNames, SECCOMP_ACTIONS, SECCOMP_ERRNO_LIMIT, type SpecSeccomp, surelyAllowed, systemCalls } from "../../spec/index.ts";
import type { Check } from "../finding.ts";
import type { HostCheck } from "../host/container-files.ts";

const BASE = "/linux/seccomp/syscalls";
/** Of a profile no more than these are listed one by one. */
const MOST = 20;

type Rule = NonNullable<SpecSeccomp["syscalls"]>[number];

/** config-linux, seccomp: names that no architecture of libseccomp has are passed over. */
export const knownCalls: Check = ({ linux }, report) => {
  const rules = linux?.seccomp?.syscalls;
  if (!rules || rules.length === 0) return;
  const known = systemCalls();
  let found = 0;
  rules.forEach(({ names }, index) => {
    names?.forEach((name, position) => {
      if (known.has(name) || ++found > MOST) return;
      const close = closeNames(name, known);
      const meant = close.length > 0 ? `; did you mean ${close.join(" or ")}?` : "";
      report.warning(
        "seccomp-unknown-call",
        `${BASE}/${index}/names/${position}`,
        `"${name}" is not a system call and is passed over${meant}`,
      );
    });
  });
};

/** Without the one no program starts, without the other none ends as it should. */
const NEEDED = ["execve", "exit_group"] as const;

/** execve(2) of the program comes after the filter. */
export const blockedCalls: Check = ({ linux, process }, report) => {
  const seccomp = linux?.seccomp;
  if (!process || !seccomp?.defaultAction) return;
  const allowed = surelyAllowed(seccomp, NEEDED);
  for (const call of NEEDED) {
    if (allowed.has(call) || isConditional(seccomp, call)) continue;
    const index = (seccomp.syscalls ?? []).findIndex(({ names }) => names?.includes(call));
    const pointer = index === -1 ? "/linux/seccomp/defaultAction" : `${BASE}/${index}/action`;
    const remedy = `add ${call} to an entry with SCMP_ACT_ALLOW`;
    if (call === "execve")
      report.error("seccomp-blocks-start", pointer, "the profile does not allow execve, so that the program cannot be executed", remedy);
    else report.warning("seccomp-blocks-end", pointer, "the profile does not allow exit_group, with which every program ends", remedy);
  }
};

/** The outcome depends on arguments, on a listener or on a tracer; that of an unknown action is unknown. */
function isConditional({ defaultAction, syscalls }: SpecSeccomp, call: string): boolean {
  const isOpen = (action: string) => ["SCMP_ACT_NOTIFY", "SCMP_ACT_TRACE"].includes(action) || !Object.hasOwn(SECCOMP_ACTIONS, action);
  const rules = (syscalls ?? []).filter(({ names }) => names?.includes(call));
  if (rules.length === 0) return isOpen(defaultAction ?? "");
  return rules.some(({ action, args }) => (args && args.length > 0) || isOpen(action));
}

const NATIVE = ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"];

/** config-linux, seccomp: this runtime always adds the machine's own architecture, others do not. */
export const nativeArchitecture: Check = ({ linux }, report) => {
  const architectures = linux?.seccomp?.architectures;
  if (!architectures || architectures.length === 0) return;
  for (const name of architectures) if (NATIVE.includes(name)) return;
  report.advice(
    "seccomp-native",
    "/linux/seccomp/architectures",
    "the list names no 64-bit architecture that runt runs on; the machine's own is added",
  );
};

const answerOf = (action: string, errno: number | null | undefined): string =>
  Object.hasOwn(SECCOMP_ERRNO_LIMIT, action) ? `${action} ${errno ?? 1}` : action;

const isUnconditional = ({ args }: Rule): boolean => !args || args.length === 0;

/** An entry with so many names is of an engine's profile, which its user has not written: Podman's names setns in two entries on purpose. */
const NAMES_OF_ENGINES = 200;

/** config-linux, seccomp: an entry that says what the default says, and a call that two entries decide differently. */
export const seccompRules: Check = ({ linux }, report) => {
  const seccomp = linux?.seccomp;
  if (!seccomp?.defaultAction) return;
  const fallback = answerOf(seccomp.defaultAction, seccomp.defaultErrnoRet);
  const decided = new Map<string, string>();
  const level = seccomp.syscalls?.some(({ names }) => (names?.length ?? 0) > NAMES_OF_ENGINES) ? "advice" : "warning";
  seccomp.syscalls?.forEach((rule, index) => {
    const value = answerOf(rule.action, rule.errnoRet);
    if (value === fallback) {
      report.advice("seccomp-idle-rule", `${BASE}/${index}`, `the entry says ${value}, as the default does, and has no effect`);
      return;
    }
    if (!isUnconditional(rule)) return;
    rule.names?.forEach((name, position) => {
      const before = decided.get(name);
      if (before !== undefined && before !== value)
        report[level](
          "seccomp-two-answers",
          `${BASE}/${index}/names/${position}`,
          `"${name}" has been given ${before} by an earlier entry, here ${value}`,
          "name it once",
        );
      decided.set(name, value);
    });
  });
};

/** The kernel's name of an action (seccomp(2), /proc/sys/kernel/seccomp/actions_avail, as the facts have it). */
const isOffered = (offered: readonly string[], action: string): boolean => {
  const same = action === "SCMP_ACT_KILL" ? "SCMP_ACT_KILL_THREAD" : action;
  return offered.includes(same) || (same === "SCMP_ACT_KILL_THREAD" && offered.includes("SCMP_ACT_KILL"));
};

/** seccomp(2): actions and flags that the kernel of the host has. */
export const filterFeatures: HostCheck = ({ linux }, report, { view: { facts } }) => {
  const seccomp = linux?.seccomp;
  if (!seccomp?.defaultAction) return;
  const { actions = [], flags = [] } = facts.seccomp ?? {};
  const look = (action: string, pointer: string) => {
    if (actions.length > 0 && !isOffered(actions, action))
      report.error("seccomp-unsupported", pointer, `the kernel of this host does not have the action ${action}`);
  };
  look(seccomp.defaultAction, "/linux/seccomp/defaultAction");
  seccomp.syscalls?.forEach(({ action }, index) => {
    look(action, `/linux/seccomp/syscalls/${index}/action`);
  });
  seccomp.flags?.forEach((flag, index) => {
    if (flags.length > 0 && !flags.includes(flag))
      report.error("seccomp-unsupported", `/linux/seccomp/flags/${index}`, `the kernel of this host does not have the flag ${flag}`);
  });
};

/** config-linux, seccomp: the socket for the notifications must have a listener. */
export const listenerSocket: HostCheck = ({ linux }, report, { view }) => {
  const path = linux?.seccomp?.listenerPath;
  let notifies = false;
  for (const { action } of linux?.seccomp?.syscalls ?? []) notifies ||= action === "SCMP_ACT_NOTIFY";
  if (!path || !notifies || !view.live) return;
  const facts = view.stat(path);
  if (facts === "unknown" || (facts !== undefined && facts.kind === "socket")) return;
  const reason = facts === undefined ? "does not exist, so no agent listens" : "is not a socket";
  report.error("seccomp-listener-missing", "/linux/seccomp/listenerPath", `"${path}" ${reason}`);
};
