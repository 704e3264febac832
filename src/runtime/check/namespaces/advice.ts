import { findAll, isRefused, kataAnnotations, readSize, roleOf, SIZE_FIELDS, sizeKey } from "../../config/index.ts";
import { cleanTarget, pointerToken } from "../../spec/index.ts";
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

/** time_namespaces(7): half of what the kernel's clocks can hold (KTIME_SEC_MAX), in seconds. */
const MOST = 9_223_372_036n / 2n;

/** config-linux, time offset: one that no kernel takes, however long it has been up. */
export const timeRange: Check = ({ linux }, report) => {
  for (const clock of ["monotonic", "boottime"]) {
    const secs = linux?.timeOffsets?.[clock]?.secs;
    if (secs === null || secs === undefined || (BigInt(secs) <= MOST && BigInt(secs) >= -MOST)) continue;
    report.error(
      "time-offset-range",
      `/linux/timeOffsets/${clock}/secs`,
      `linux.timeOffsets: ${clock}.secs ${secs} is out of the kernel's range`,
    );
  }
};

const at = (key: string): string => `/annotations/${pointerToken(key)}`;
const MIB = 2n ** 20n;

/** What belongs to a pod names the pod's sandbox, and all that is said of it agrees. */
export const sandboxIdentity: Check = ({ annotations }, report) => {
  const types = findAll(annotations, "typeKey");
  const ids = findAll(annotations, "idKey");
  const [type] = types;
  if (type && ids.length === 0)
    report.warning("sandbox-id-missing", at(type.key), `nothing says which sandbox this ${type.value} is of`, `add ${type.manager.idKey}`);
  // An unknown word in the first annotation is an error by itself; later annotations are not read.
  for (const { key, value } of types.slice(1))
    if (roleOf(value) !== roleOf(type!.value))
      report.advice("sandbox-conflict", at(key), `"${value}", and ${type!.key} says "${type!.value}"`);
  for (const { key, value } of ids.slice(1))
    if (value !== ids[0]!.value) report.advice("sandbox-conflict", at(key), `"${value}", and ${ids[0]!.key} says "${ids[0]!.value}"`);
};

/** How large a pod is: numbers, that can be meant, on its sandbox. */
export const sandboxSize: Check = ({ annotations }, report) => {
  const sizes = Object.fromEntries(SIZE_FIELDS.map((field) => [field, readSize(annotations, field)]));
  const given = SIZE_FIELDS.filter((field) => sizes[field] !== undefined);
  for (const field of given)
    if (sizes[field] === "bad")
      report.warning("sandbox-size-syntax", at(sizeKey(field)), "is no integer that the limit can hold, and counts as 0");
  const { quota, period, memory } = sizes;
  if (typeof quota === "bigint" && quota > 0n && (period ?? 0n) === 0n)
    report.advice("sandbox-size-odd", at(sizeKey("quota")), "a quota without a period is no limit of a pod", `add ${sizeKey("period")}`);
  if (typeof memory === "bigint" && memory > 0n && memory < MIB)
    report.advice("sandbox-size-odd", at(sizeKey("memory")), `${memory} bytes are less than a MiB, and count as no limit`, "write bytes");
  const [type] = findAll(annotations, "typeKey");
  const [first] = given;
  if (first !== undefined && (!type || roleOf(type.value) === "container"))
    report.advice("sandbox-size-unused", at(sizeKey(first)), "the size of a pod has a meaning on its sandbox only");
};

/** Of Kata's annotations those that a machine refuses, or that have no effect anywhere. */
export const kataAdvice: Check = ({ annotations }, report) => {
  for (const found of kataAnnotations(annotations)) {
    if (isRefused(found)) report.warning("kata-annotation", at(found.key), `a machine (--isolation vm) is refused: ${found.text}`);
    else if (found.use === "unused") report.warning("kata-annotation", at(found.key), `has no effect: ${found.text}`);
  }
};
