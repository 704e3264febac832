/** Whether a container is frozen, where it is only shown: often the state of its init says that it is not. */
import * as host from "../../host/index.ts";
import type { CgroupRef } from "../model.ts";
import { isFrozen } from "./freeze.ts";

/**
 * State letters (proc_pid_stat(5)) of processes that no cgroup v1 has frozen, on the kernel of this release.
 *
 * From Linux 6.1 on being frozen is a state of its own, which takes the place of the one before (TASK_FROZEN; kernel/freezer.c,
 * __set_task_frozen and __refrigerator): it is shown as R, from 6.14 on as D (include/linux/sched.h, __task_state_index), never as S. What sleeps where
 * it cannot be frozen is woken by freeze_task for that: it is not in S any more, either. What is exiting has left its cgroup, and may be in S while that
 * is frozen (the init of a PID namespace waits for the others, which cannot end: kernel/pid_namespace.c, zap_pid_ns_processes): host.runningState calls
 * it x. Older kernels count a freezable sleep as frozen and leave it in S.
 * On v2 a frozen process is in S (TASK_INTERRUPTIBLE; kernel/signal.c, do_freezer_trap).
 */
export function awakeStatesOf(release: string): string {
  const [major, minor] = release.split(".");
  return Number(major) > 6 || (major === "6" && Number(minor) >= 1) ? "S" : "";
}

let known: string | undefined;

/** Those of this kernel. */
export function awakeStates(): string {
  known ??= awakeStatesOf(host.kernelRelease());
  return known;
}

/**
 * As isFrozen, by the state of init where that is enough. An init that was moved out of the container's cgroup is not frozen here, so a caller
 * that acts on the answer has to use isFrozen.
 */
export function isFrozenToShow(cgroup: CgroupRef, state: string): boolean {
  return !(cgroup.version === 1 && awakeStates().includes(state)) && isFrozen(cgroup);
}
