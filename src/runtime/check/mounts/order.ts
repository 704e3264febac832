import { cleanTarget, type SpecMount } from "../../spec/index.ts";
import type { Check } from "../finding.ts";
import { PathTree } from "../path-tree.ts";

/** path_resolution(7), PATH_MAX: nothing can be mounted at a longer one. */
const LONGEST = 4096;

const isRemount = ({ options }: SpecMount): boolean => options?.includes("remount") === true;

/** config, mounts: they are made in their order, so that a later one hides what is at or below its destination. */
export const mountOrder: Check = ({ mounts }, report) => {
  const points = new PathTree<number>();
  mounts?.forEach((mount, index) => {
    const path = cleanTarget(mount.destination);
    if (isRemount(mount) || path === "/" || path.length > LONGEST) return;
    // What is hidden once is hidden: another mount hides this one alone.
    const hidden = points.replace(path, index);
    if (hidden.length === 0) return;
    for (const earlier of [...hidden].sort((one, other) => one - other)) {
      const pointer = `/mounts/${earlier}/destination`;
      const before = cleanTarget(mounts[earlier]!.destination);
      const again = before === path;
      const message = again
        ? `"${path}" is mounted again by entry ${index}, which hides this one`
        : `"${before}" is hidden by the later mount of "${path}" (entry ${index})`;
      report.warning("mount-hidden", pointer, message, again ? "leave one of them out" : `put "${path}" before it`);
    }
  });
};
