import { cleanTarget, type SpecMount } from "../../spec/index.ts";
import type { Check } from "../finding.ts";

/** path_resolution(7), PATH_MAX: nothing can be mounted at a longer one. */
const LONGEST = 4096;

const isRemount = ({ options }: SpecMount): boolean => options?.includes("remount") === true;

/** config, mounts: they are made in their order, so that a later one hides what is at or below its destination. */
export const mountOrder: Check = ({ mounts }, report) => {
  /** By a directory: the entries that are mounted at it or below it. */
  const below = new Map<string, { readonly path: string; readonly index: number }[]>();
  mounts?.forEach((mount, index) => {
    const path = cleanTarget(mount.destination);
    if (isRemount(mount) || path === "/" || path.length > LONGEST) return;
    for (const earlier of below.get(path) ?? []) {
      const pointer = `/mounts/${earlier.index}/destination`;
      const again = earlier.path === path;
      const message = again
        ? `"${path}" is mounted again by entry ${index}, which hides this one`
        : `"${earlier.path}" is hidden by the later mount of "${path}" (entry ${index})`;
      report.warning("mount-hidden", pointer, message, again ? "leave one of them out" : `put "${path}" before it`);
    }
    // What is hidden once is hidden: the next one hides this mount alone.
    below.set(path, []);
    for (let at = path; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
      const list = below.get(at);
      if (list === undefined) below.set(at, [{ path, index }]);
      else list.push({ path, index });
    }
  });
};
