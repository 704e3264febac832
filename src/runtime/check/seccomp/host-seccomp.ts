import type { HostCheck } from "../host/host-check.ts";

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
  const reason = facts === undefined ? "does not exist: nobody listens" : "is not a socket";
  report.error("seccomp-listener-missing", "/linux/seccomp/listenerPath", `"${path}" ${reason}`);
};
