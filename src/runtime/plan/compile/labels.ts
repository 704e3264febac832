/** Labels of the security modules: what the program becomes by execve (apparmor(7), attr(5) of SELinux). */
import type { Scope } from "./scope.ts";

/** Whether init writes an attribute, for which it needs the host's procfs. */
export function needsProcForLabels({ config }: Scope): boolean {
  return config.process?.apparmorProfile !== undefined || config.process?.selinuxLabel !== undefined;
}

export function addLabels({ builder, config, host }: Scope): void {
  const { apparmorProfile, selinuxLabel } = config.process ?? {};
  if (selinuxLabel !== undefined) {
    builder.add("init", "process", "label.set", { file: "exec", fallback: "", value: selinuxLabel }, "/process/selinuxLabel");
  }
  // Without AppArmor only "unconfined" gets this far (src/runtime/check/process/process.ts), and everything is.
  if (apparmorProfile !== undefined && host.apparmor !== false) {
    const value = `exec ${apparmorProfile}`;
    builder.add("init", "process", "label.set", { file: "apparmor/exec", fallback: "exec", value }, "/process/apparmorProfile");
  }
}

/** The session keyring gets the label of the process; the empty value makes the kernel forget it again. */
export function addKeyring({ builder, config, invocation }: Scope): void {
  if (invocation.noNewKeyring) return;
  const label = config.process?.selinuxLabel;
  const setLabel = (value: string) =>
    builder.add("init", "namespaces", "label.set", { file: "keycreate", fallback: "", value }, "/process/selinuxLabel");
  if (label !== undefined) setLabel(label);
  builder.add("init", "namespaces", "keyring.join", { name: `_ses.${invocation.id}` });
  if (label !== undefined) setLabel("");
}
