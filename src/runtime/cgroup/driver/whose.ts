/**
 * Whose the cgroup is that a record names: when the container's init was moved elsewhere and its directories were removed, a later container may
 * have made them again for itself.
 */
import { RuntError } from "../../errors/index.ts";
import { allDirectories, type CgroupRef } from "../model.ts";
import { type Marking, markFor } from "./mark.ts";

/** The first directory that create has made is the one that it marks. If there is none, any of them may be another container's. */
export function whoseAre(made: readonly string[], wanted: Marking): "own" | "other" | "none" {
  for (const path of made) {
    const whose = markFor(path, wanted);
    if (whose !== "none") return whose;
  }
  return "none";
}

/** Whether another container's mark is on it. Directories that were there before the container do not count: it has them with others. */
export function isAnothers(cgroup: CgroupRef, wanted: Marking): boolean {
  const { kept = [] } = cgroup;
  const made = allDirectories(cgroup).filter((path) => !kept.includes(path));
  return whoseAre(made, wanted) === "other";
}

/** @throws RuntError cgroup */
export function refuseAnothers(cgroup: CgroupRef, { mark }: { readonly mark: Marking }): void {
  if (!isAnothers(cgroup, mark)) return;
  throw new RuntError("cgroup", `the cgroup ${cgroup.paths[0]} is another container's by now: nothing is done to it`);
}
