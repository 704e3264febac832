/** A container whose process is given at `start`: the annotation io.runt.template, and what cannot be had that way. Pure. */
import { CHANGEABLE, type Changeable, changeableOf, TEMPLATE } from "../../shared/protocol/index.ts";
import { RuntError } from "../errors/index.ts";
import type { Spec } from "../spec/index.ts";

/** What `start` may change. undefined: the container is no template. @throws RuntError config-invalid */
export function deriveTemplate(spec: Pick<Spec, "annotations" | "process" | "hooks" | "linux">): readonly Changeable[] | undefined {
  const value = spec.annotations?.[TEMPLATE];
  if (value === undefined) return undefined;
  const changeable = changeableOf(value);
  if (changeable === undefined)
    throw invalid(
      `${JSON.stringify(value)} is neither "true" nor names of ${CHANGEABLE.join(", ")} with commas between`,
      `/annotations/${TEMPLATE}`,
      "annotation-template",
    );
  const { process, hooks, linux } = spec;
  if (!process) throw impossible("a template without a process", "/process");
  if (hooks?.startContainer?.length) throw impossible("startContainer hooks, which run before there is a process", "/hooks/startContainer");
  if (linux?.seccomp?.listenerPath) throw impossible("a filter with a listener, which is loaded by create", "/linux/seccomp/listenerPath");
  // Else the waiting process would keep CAP_SYS_ADMIN for the filter.
  if (linux?.seccomp && process.noNewPrivileges !== true)
    throw impossible("a filter without process.noNewPrivileges, which is loaded with CAP_SYS_ADMIN", "/process/noNewPrivileges");
  return changeable;
}

function impossible(what: string, pointer: string): RuntError {
  return invalid(`a template cannot have ${what}`, pointer, "template-impossible");
}

function invalid(reason: string, pointer: string, finding: string): RuntError {
  return new RuntError("config-invalid", `annotation ${TEMPLATE}: ${reason}`, { pointer, finding });
}
