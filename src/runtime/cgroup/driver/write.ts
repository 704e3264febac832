import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { ioWeight } from "../compile/io-weight.ts";
import { explainRefusal } from "./explain.ts";

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
