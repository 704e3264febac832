import { cleanTarget } from "../../spec/index.ts";
import type { Check } from "../finding.ts";
import { namespaceOf } from "./namespaces.ts";

/** pid_namespaces(7): without a procfs of its own the container sees no processes, or those of another namespace. */
export const procMount: Check = (spec, report) => {
  const namespace = namespaceOf(spec, "pid");
  if (!namespace || namespace.path || !spec.process) return;
  // Every entry must have been seen to say that there is none.
  for (const { destination } of spec.mounts ?? []) if (cleanTarget(destination) === "/proc") return;
  report.advice("proc-missing", "/mounts", "nothing is mounted on /proc: the container does not see its processes");
};
