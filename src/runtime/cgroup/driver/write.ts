import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { ioWeight } from "../compile/block-io.ts";
import { readIfThere } from "./tree.ts";

interface Turned {
  readonly file: string;
  readonly value: string;
}

type Outcome = (value: string) => Turned | "nothing" | undefined;

const fine =
  (...values: readonly string[]): Outcome =>
  (value) =>
    values.includes(value) ? "nothing" : undefined;

/**
 * What takes the place of a file that this kernel lacks (a kernel has the weights of one scheduler only, and swap accounting
 * can be off). "nothing": the value asks for what is so anyway. A file that is not listed must exist.
 */
const OUTCOMES: Readonly<Record<string, Outcome>> = {
  "io.bfq.weight": (value) => ({ file: "io.weight", value: convertWeight(value) }),
  "blkio.bfq.weight": (value) => ({ file: "blkio.weight", value }),
  "blkio.bfq.weight_device": (value) => ({ file: "blkio.weight_device", value }),
  "memory.swap.max": fine("max", "0"),
  "memory.memsw.limit_in_bytes": fine("-1"),
  "memory.use_hierarchy": fine("1"),
  "cpu.cfs_burst_us": fine("0"),
  "cpu.max.burst": fine("0"),
};

/** Kernels without reservation accounting of huge pages (before 5.7) limit their use, which is written first. */
const RESERVATION = /^hugetlb\.\w+\.rsvd\./;

/**
 * The operation `cgroup.write`.
 * @param pointer where config.json asks for it.
 * @throws RuntError cgroup, naming value and file.
 */
export function writeCgroupFile(path: string, value: string, pointer?: string): void {
  try {
    host.writeControl(path, value);
  } catch (error) {
    const slash = path.lastIndexOf("/") + 1;
    const outcome = host.isErrno(error, "ENOENT") ? outcomeOf(path.slice(slash), value) : undefined;
    if (outcome === "nothing") return;
    if (outcome !== undefined) {
      writeCgroupFile(path.slice(0, slash) + outcome.file, outcome.value, pointer);
      return;
    }
    const explained = explainRefusal(path, value, error);
    throw new RuntError("cgroup", explained ?? `cannot write "${value}" to ${path}: ${host.reason(error)}`, {
      ...(pointer && { pointer }),
      cause: error,
    });
  }
}

function outcomeOf(file: string, value: string): Turned | "nothing" | undefined {
  return RESERVATION.test(file) ? "nothing" : OUTCOMES[file]?.(value);
}

function convertWeight(value: string): string {
  const [first = "", weight] = value.split(" ");
  return weight === undefined ? String(ioWeight(Number(first))) : `${first} ${ioWeight(Number(weight))}`;
}

const CONTROLLERS = "cgroup.controllers";

/**
 * Why the kernel does not take a value, where its one word (ENOENT, EBUSY) does not say it. Runs only
 * after a write has failed. A sentence, or undefined when there is no more to say.
 */
function explainRefusal(path: string, value: string, error: unknown): string | undefined {
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
