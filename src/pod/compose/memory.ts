/** Directories in memory: their size, owner and mode. Source: mount(8), "Mount options for tmpfs". */
import { bytesOf } from "./quantity.ts";

export interface MemoryOptions {
  readonly size?: number;
  readonly user?: number;
  readonly group?: number;
  readonly mode?: number;
}

const SIZE = /^size=\d+[bkmg]?$/i;
const OWNER = /^(?:uid|gid)=\d{1,9}$/;
const MODE = /^mode=[0-7]{1,5}$/;
/** Highest mode of a directory. */
export const MOST_MODE = 0o7777;

/** Whether it is an option of a tmpfs that says its size, owner or mode. */
export function isOfMemory(option: string): boolean {
  return SIZE.test(option) || OWNER.test(option) || (MODE.test(option) && modeIn(option) <= MOST_MODE);
}

/** @param options as of mount(8), one each; those that `isOfMemory` does not know are left out. The last one of a name counts. */
export function memoryOptions(options: readonly string[]): MemoryOptions {
  const known = options.filter(isOfMemory);
  const last = (pattern: RegExp, name = "") => known.findLast((one) => pattern.test(one) && one.startsWith(name));
  const size = last(SIZE);
  const [user, group, mode] = [last(OWNER, "uid"), last(OWNER, "gid"), last(MODE)];
  return {
    ...(size === undefined ? {} : { size: bytesOf(textAfter(size).toLowerCase()) }),
    ...(user === undefined ? {} : { user: Number(textAfter(user)) }),
    ...(group === undefined ? {} : { group: Number(textAfter(group)) }),
    ...(mode === undefined ? {} : { mode: modeIn(mode) }),
  };
}

function textAfter(option: string): string {
  return option.slice(option.indexOf("=") + 1);
}

function modeIn(option: string): number {
  return Number.parseInt(textAfter(option), 8);
}
