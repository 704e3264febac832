/**
 * The text of a resctrl `schemata` file (Documentation/filesystems/resctrl.rst): one resource a line, "L3:0=ff;1=c0", with blanks
 * in front that line the colons up. Pure.
 */
import { parseMountLine } from "../../shared/linux/index.ts";

/** Allocation by resource and domain: "L3" -> "0" -> "ff". */
export type Schemata = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Later lines win. What is no line of a schemata file stands as a resource without domains, and so is never matched. */
export function parseSchemata(lines: readonly string[]): Schemata {
  const schemata = new Map<string, Map<string, string>>();
  for (const line of lines) {
    if (line.trim() === "") continue;
    const colon = line.indexOf(":");
    const resource = line.slice(0, colon === -1 ? line.length : colon).trim();
    const domains = schemata.get(resource) ?? new Map<string, string>();
    schemata.set(resource, domains);
    for (const entry of colon === -1 ? [] : line.slice(colon + 1).split(";")) {
      const [domain = "", value] = entry.split("=").map((part) => part.trim());
      if (value !== undefined) domains.set(domain, value);
    }
  }
  return schemata;
}

/**
 * The first resource of the wanted schemata that a group has not. Domains that are not named do not count. The kernel rounds a
 * bandwidth up to its granularity, and numbers may be written in several ways.
 * @param granularity of the bandwidth in percent; 1 where it is not known.
 */
export function firstDifference(wanted: Schemata, actual: Schemata, granularity: bigint): string | undefined {
  for (const [resource, domains] of wanted) {
    const known = actual.get(resource);
    if (!known || domains.size === 0) return resource;
    for (const [domain, value] of domains) {
      const found = [...known].find(([other]) => sameNumber(domain, other))?.[1];
      if (found === undefined || !sameAllocation(resource, value, found, granularity)) return resource;
    }
  }
  return undefined;
}

function sameAllocation(resource: string, wanted: string, actual: string, granularity: bigint): boolean {
  // MB and SMBA are decimal, everything else is a bit mask in hexadecimal.
  if (!resource.endsWith("MB") && !resource.endsWith("MBA"))
    return hexadecimal(wanted) !== undefined && hexadecimal(wanted) === hexadecimal(actual);
  const [one, other] = [decimal(wanted), decimal(actual)];
  return one !== undefined && (one === other || roundUp(one, granularity) === other);
}

function sameNumber(one: string, other: string): boolean {
  return decimal(one) !== undefined && decimal(one) === decimal(other);
}

function decimal(text: string): bigint | undefined {
  return /^\d{1,18}$/.test(text) ? BigInt(text) : undefined;
}

function hexadecimal(text: string): bigint | undefined {
  const digits = text.replace(/^0x/i, "");
  return /^[0-9a-f]{1,16}$/i.test(digits) ? BigInt(`0x${digits}`) : undefined;
}

function roundUp(value: bigint, step: bigint): bigint {
  return ((value + step - 1n) / step) * step;
}

const USUAL_PLACE = "/sys/fs/resctrl";

/**
 * Where the resctrl filesystem is mounted, from the text of /proc/PID/mountinfo (proc_pid_mountinfo(5)): the usual place if it is
 * there, else the first whole mount of it. undefined: nowhere.
 */
export function findResctrl(mountinfo: string): string | undefined {
  const lines = mountinfo.split("\n").filter((line) => line.includes(" - resctrl "));
  const found = lines.flatMap(parseMountLine).filter(({ root }) => root === "/");
  return (found.find(({ point }) => point === USUAL_PLACE) ?? found[0])?.point;
}
