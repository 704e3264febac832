/** Why the kernel does not take a value, where its one word (ENOENT, EBUSY) does not say it. Runs only after a write has failed. */
import * as host from "../../host/index.ts";
import { readIfThere } from "./tree.ts";

const CONTROLLERS = "cgroup.controllers";

/** A sentence, or undefined when there is no more to say. */
export function explainRefusal(path: string, value: string, error: unknown): string | undefined {
  const slash = path.lastIndexOf("/");
  const directory = path.slice(0, slash);
  const file = path.slice(slash + 1);
  if (host.isErrno(error, "ENOENT")) return explainMissing(directory, file);
  if (host.isErrno(error, "EBUSY") && file === "memory.limit_in_bytes") return explainBusy(directory, value);
  const device = /^\d+:\d+(?= )/.exec(value)?.[0];
  if (host.isErrno(error, "ENODEV") && device !== undefined) return `cannot write "${value}" to ${path}: no block device ${device}`;
  return undefined;
}

function explainMissing(directory: string, file: string): string | undefined {
  if (!host.access(directory, host.ACCESS.EXIST)) return undefined;
  const controller = file.slice(0, file.indexOf("."));
  const enabled = readIfThere(`${directory}/${CONTROLLERS}`);
  if (enabled !== undefined && controller !== "cgroup" && !enabled.split(/\s+/).includes(controller)) {
    const type = readIfThere(`${directory}/cgroup.type`)?.trim();
    return type === "threaded"
      ? `cannot set ${file}: the cgroup ${directory} is threaded and has no ${controller} controller`
      : `cannot set ${file}: the ${controller} controller is not enabled for ${directory}`;
  }
  const size = /^hugetlb\.(\w+)\./.exec(file)?.[1];
  if (size === undefined) return undefined;
  const sizes = host.readdir(directory).flatMap((name) => /^hugetlb\.(\w+)\.(?:max|limit_in_bytes)$/.exec(name)?.[1] ?? []);
  return `this host has no huge pages of ${size}, only of ${sizes.sort().join(", ")}`;
}

/** v1 refuses a limit that it cannot reclaim the memory for; in the words that runc uses. */
function explainBusy(directory: string, value: string): string | undefined {
  const usage = readIfThere(`${directory}/memory.usage_in_bytes`)?.trim();
  const peak = readIfThere(`${directory}/memory.max_usage_in_bytes`)?.trim();
  return usage === undefined || peak === undefined
    ? undefined
    : `unable to set memory limit to ${value} (current usage: ${usage}, peak usage: ${peak})`;
}
