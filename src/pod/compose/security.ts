/** Translates security_opt of a service. Source: docker run, "--security-opt"; moby, daemon/daemon_unix.go. */
import type { TaskInput } from "../../engine/spec/index.ts";
import type { ServicePlace } from "./place.ts";
import type { ServiceInput } from "./schema.ts";

type Rights = Pick<TaskInput["containers"][number], "noNewPrivileges" | "seccomp">;

/** What these switch off is not there: services have no profile of AppArmor and no label of SELinux. */
const HOLDS = ["apparmor=unconfined", "label=disable"];

export function securityOf({ security_opt: options = [] }: ServiceInput, { refuse }: ServicePlace): Rights {
  const rights: { noNewPrivileges?: boolean; seccomp?: "unconfined" } = {};
  for (const [index, written] of options.entries()) {
    // Of old, ":" stood for "=".
    const [, name = "", value = ""] = /^([a-z-]+)(?:[=:](.*))?$/s.exec(written.trim()) ?? [];
    const at = ["security_opt", index];
    if (name === "no-new-privileges" && /^(?:true|false|)$/.test(value)) rights.noNewPrivileges = value !== "false";
    else if (name === "seccomp" && value === "unconfined") rights.seccomp = "unconfined";
    else if (name === "seccomp") refuse("only seccomp=unconfined is supported: the filter of the engine is Docker's default", at);
    else if (!HOLDS.includes(`${name}=${value}`))
      refuse("is not supported: only no-new-privileges, seccomp=unconfined, apparmor=unconfined and label=disable", at);
  }
  return rights;
}
