import { cleanTarget, type SpecMount } from "../../spec/index.ts";
import type { Check } from "../finding.ts";

/** path_resolution(7), PATH_MAX: nothing can be mounted at a longer one. */
const LONGEST = 4096;

const isRemount = ({ options }: SpecMount): boolean => options?.includes("remount") === true;

/** config, mounts: they are made in their order, so that a later one hides what is at or below its destination. */
export const mountOrder: Check = ({ mounts }, report) => {
  const points = new MountPoints();
  mounts?.forEach((mount, index) => {
    const path = cleanTarget(mount.destination);
    if (isRemount(mount) || path === "/" || path.length > LONGEST) return;
    for (const hidden of points.add(path, index)) {
      const pointer = `/mounts/${hidden.index}/destination`;
      const again = hidden.path === path;
      const message = again
        ? `"${path}" is mounted again by entry ${index}, which hides this one`
        : `"${hidden.path}" is hidden by the later mount of "${path}" (entry ${index})`;
      report.warning("mount-hidden", pointer, message, again ? "leave one of them out" : `put "${path}" before it`);
    }
  });
};

interface MountPoint {
  readonly path: string;
  readonly index: number;
}

/** What is mounted and can be seen, as a tree of directories. */
class MountPoints {
  readonly #mounted = new Map<string, MountPoint>();
  /** By a directory: what is right below it and is a mount point, or has one below it. */
  readonly #below = new Map<string, string[]>();

  /** @returns what it hides, in the order of the entries: from then on another mount hides this one alone */
  add(path: string, index: number): readonly MountPoint[] {
    const isKnown = this.#mounted.has(path) || this.#below.has(path);
    const hidden = isKnown ? this.#take(path).sort((a, b) => a.index - b.index) : [];
    this.#mounted.set(path, { path, index });
    if (!isKnown) this.#enter(path);
    return hidden;
  }

  #enter(path: string): void {
    for (let at = path; at !== ""; ) {
      const parent = at.slice(0, at.lastIndexOf("/"));
      const beside = this.#below.get(parent);
      if (beside !== undefined) {
        beside.push(at);
        return;
      }
      this.#below.set(parent, [at]);
      if (this.#mounted.has(parent)) return;
      at = parent;
    }
  }

  /** Takes out what is at a path and below it. */
  #take(path: string): MountPoint[] {
    const taken: MountPoint[] = [];
    const left = [path];
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      const mounted = this.#mounted.get(at);
      if (mounted !== undefined) taken.push(mounted);
      this.#mounted.delete(at);
      for (const name of this.#below.get(at) ?? []) left.push(name);
      this.#below.delete(at);
    }
    return taken;
  }
}
