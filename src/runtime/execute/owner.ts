/** By what the cgroup of a record is known to be the container's, whenever something is to be ended in it (src/runtime/cgroup/ownership.ts). */
import type { Left, Owner } from "../cgroup/index.ts";
import { initState, markingOf, type StateSummary } from "../state/index.ts";
import { warn } from "./warn.ts";

/** `root`: the state root, where it is known. */
export function ownerOf(record: StateSummary, root?: string): Owner {
  const { id, pid } = record;
  return {
    mark: root === undefined ? { id } : markingOf(root, id),
    init: () => (pid > 0 && initState(record) !== undefined ? pid : 0),
  };
}

/** A warning that names the processes in the container's cgroup that a verb has left alone; undefined: there are none. */
export function warnLeft(id: string, { others, unseen }: Left): void {
  const unknown = unseen === 0 ? "" : `${unseen} that cannot be seen from this PID namespace`;
  if (others.length === 0) {
    if (unknown !== "") warn(`container ${id}: in its cgroup, and left alone: ${unknown}`);
    return;
  }
  const known = `process${others.length > 1 ? "es" : ""} ${others.join(" ")}`;
  warn(`container ${id}: in its cgroup, but not known to be its own, and left alone: ${known}${unknown === "" ? "" : `, and ${unknown}`}`);
}
