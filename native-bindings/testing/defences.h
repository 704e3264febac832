/* X(identifier, name): every defence that RUNT_DISABLE_DEFENCES can switch off in the test build, in C or in TypeScript (src/runtime/testing/index.ts).
 * What each one is stands at its guard; test/security has the attacks that get through without it. */
#ifndef RUNT_DEFENCES_H
#define RUNT_DEFENCES_H

#define DEFENCES(X) \
  X(in_root, "in-root") \
  X(plain_directory, "plain-directory") \
  X(procfs_link, "procfs-link") \
  X(mount_by_path, "mount-by-path") \
  X(make_by_path, "make-by-path") \
  X(source_by_path, "source-by-path") \
  X(path_descriptors, "path-descriptors") \
  X(verify_device, "verify-device") \
  X(null_device, "null-device") \
  X(masked_paths, "masked-paths") \
  X(readonly_paths, "readonly-paths") \
  X(verify_terminal, "verify-terminal") \
  X(device_link, "device-link") \
  X(stdio_device, "stdio-device") \
  X(config_checks, "config-checks") \
  X(held_proc, "held-proc") \
  X(root_link, "root-link") \
  X(copy_kinds, "copy-kinds") \
  X(capabilities, "capabilities") \
  X(inheritable, "inheritable") \
  X(ambient, "ambient") \
  X(dumpable, "dumpable") \
  X(cwd_check, "cwd-check") \
  X(keep_descriptors, "keep-descriptors") \
  X(no_new_privileges, "no-new-privileges") \
  X(death_signal, "death-signal") \
  X(signals, "signals") \
  X(environment, "environment") \
  X(notify_filter, "notify-filter") \
  X(passwd, "passwd") \
  X(self_exe, "self-exe") \
  X(numeric_user, "numeric-user") \
  X(container_id, "container-id") \
  X(cgroup_path, "cgroup-path") \
  X(config_type, "config-type") \
  X(pid_file, "pid-file") \
  X(stdio, "stdio") \
  X(state_root, "state-root") \
  X(cgroup_view, "cgroup-view") \
  X(helper_environment, "helper-environment") \
  X(apparmor_word, "apparmor-word") \
  X(hook_filter, "hook-filter") \
  X(groups, "groups") \
  X(state_entry, "state-entry") \
  X(state_mark, "state-mark") \
  X(claim, "claim")

#define X(name, text) DEFENCE_##name,
enum defence { DEFENCES(X) DEFENCE_COUNT };
#undef X

#endif
