/** Parts that several operations are described with. Pure. */
import { MOUNT_ATTR, O } from "../../shared/linux/index.ts";
import { attributeNames, clearedNames, propagationName, quote, superFlagNames } from "./names.ts";

export interface MountParts {
  readonly data?: readonly string[];
  readonly superFlags?: bigint;
  readonly attrSet?: bigint;
  readonly attrClear?: bigint;
  readonly recursiveSet?: bigint;
  readonly recursiveClear?: bigint;
  readonly propagation?: readonly number[];
}

/** As mount(8) would have it: "nosuid,nodev,size=64k". */
export function mountOptions({ attrSet = 0n, attrClear = 0n, recursiveSet = 0n, recursiveClear = 0n, ...rest }: MountParts): string {
  const recursive = (names: string): string => names.replace(/(^|,)/g, "$1r");
  // An access time that is set clears the others of its group first, which says nothing.
  const cleared = (attrSet & MOUNT_ATTR.ATIME) === 0n ? attrClear : attrClear & ~MOUNT_ATTR.ATIME;
  return [
    superFlagNames((rest.superFlags ?? 0n) & ~attrSet),
    attributeNames(attrSet),
    clearedNames(cleared),
    recursiveSet === 0n ? "" : recursive(attributeNames(recursiveSet)),
    recursiveClear === 0n ? "" : recursive(clearedNames(recursiveClear)),
    ...(rest.propagation ?? []).map(propagationName),
    ...(rest.data ?? []).map(quote),
  ]
    .filter((part) => part !== "")
    .join(",");
}

/** "proc -> /proc nosuid". */
export function places(what: string, target: string, options: string, remark = ""): string {
  const arrow = what === "" ? quote(target) : `${what} -> ${quote(target)}`;
  return [arrow, options, remark].filter((part) => part !== "").join(" ");
}

/** "0:100000+65536,..." of container id, host id, size. */
export function triples(numbers: readonly number[]): string {
  const ranges: string[] = [];
  for (let at = 0; at < numbers.length; at += 3) ranges.push(`${numbers[at]}:${numbers[at + 1]}+${numbers[at + 2]}`);
  return ranges.join(",") || "none";
}

export function fileFlags(flags: number): string {
  const access = (flags & O.RDWR) !== 0 ? "read-write" : (flags & O.WRONLY) !== 0 ? "write" : "read";
  return (flags & O.CREAT) === 0 ? access : `${access}, made anew`;
}
