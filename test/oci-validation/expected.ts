/**
 * Programs that runt does not pass on some host or from some version of the tree, and why. Every other one has to be clean, and the list
 * is as short as it can be: one that is clean all the same is told, so that it can be taken out.
 */
export const EXPLAINED: Readonly<Record<string, string>> = {
  delete: "wants delete of a created container to fail; containerd and CRI-O rely on it, as with runc and crun",
  delete_resources: "a tree for specification 1.3 compares the addresses of two pids limits, not their values",
  hooks: "compares with lines that its own hooks do not write, and ends with an error in any case",
  hooks_stdin: "wants the status created in a prestart hook; create has not finished then, so runt says creating, as runc",
  linux_cgroups_blkio: "writes a leaf weight, which the kernel lost in Linux 5.0 with the CFQ scheduler",
  linux_cgroups_memory: "wants limits of kernel memory, which the kernel does not take any more; runt warns",
  linux_cgroups_pids: "as delete_resources",
  linux_cgroups_relative_blkio: "as linux_cgroups_blkio",
  linux_cgroups_relative_memory: "as linux_cgroups_memory",
  linux_cgroups_relative_pids: "as delete_resources",
  linux_mount_label: "needs SELinux; without it runt refuses a label, which crun ignores",
  linux_process_apparmor_profile: "needs AppArmor; without it runt refuses a profile",
  misc_props: "forgets to put its program into the bundle, so that no runtime can start it",
  poststart_fail: "wants the rule before specification 1.3: now a failing poststart hook is an error",
  prestart: "wants prestart hooks in start; the specification has moved them to create",
  process_capabilities: "asks for every capability there is; one that the caller does not have cannot be given",
  process_capabilities_fail: "wants an unknown capability to be an error; since specification 1.1 it is a warning",
  process_rlimits: "built with Go 1.19 or newer, the program inside has its soft limit of files raised by Go itself",
  start: "wants start of a container without a process to succeed, against what it says itself",
};

/** Programs that race with the container they have started: clean if one of some attempts is. */
export const RACES: Readonly<Record<string, string>> = {
  killsig: "sends the signal as soon as the container runs, also before its shell has set the trap",
  pidfile: "kills a process that ends by itself at once, and takes it ill if it comes too late",
  poststart: "wants the program's shell to be done with its line before that of the hook",
};
