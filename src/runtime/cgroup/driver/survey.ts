/** What can be seen of a container's directories at this moment, for ../ownership.ts to decide by. */
import * as host from "../../host/index.ts";
import { readHierarchies } from "../hierarchies.ts";
import { allDirectories, type CgroupRef, mountpointsOf } from "../model.ts";
import { divide, type Seen, type Territory } from "../ownership.ts";
import { type Marking, markFor } from "./mark.ts";
import { census } from "./processes.ts";
import { directoryOf } from "./where.ts";

/** By what a container's cgroup is known. */
export interface Owner {
  readonly mark: Marking;
  /** Pid of its init while that is the process that was started, and lives; 0 otherwise. */
  init(): number;
}

/** Directories in which this process has seen the init of a container that it is about to end, by path. Where marks cannot be written they still count. */
const proven = new Map<string, string>();

/** Every directory is read: for the rare verbs that kill. */
export function survey(cgroup: CgroupRef, owner: Owner): Territory {
  const { kept = [] } = cgroup;
  for (;;) {
    const init = owner.init();
    const seen = allDirectories(cgroup).map((path) => look(path, kept.includes(path), owner, init));
    if (owner.init() === init) return divide(seen, init);
    // It has ended since, and was counted while it lived. Without its pid it would be taken for a process of somebody else.
  }
}

/** `init`: as Owner.init() said before. */
function look(path: string, kept: boolean, owner: Owner, init: number): Seen {
  const before = identityOf(path);
  const { pids, unseen } = census(path);
  const identity = identityOf(path);
  // The same process at both ends of the look, in the same directory.
  if (init > 0 && pids.has(init) && owner.init() === init && before === identity && identity !== undefined) proven.set(path, identity);
  return {
    path,
    kept,
    root: isHierarchyRoot(path),
    holdsSelf: pids.has(host.getpid()) || isAboveSelf(path),
    mark: markFor(path, owner.mark),
    holdsInit: identity !== undefined && proven.get(path) === identity,
    pids,
    unseen,
  };
}

function identityOf(path: string): string | undefined {
  try {
    const found = host.stat(path);
    return found && `${found.dev}:${found.ino}`;
  } catch (error) {
    if (error instanceof Error && "errno" in error) return undefined;
    throw error;
  }
}

/** The inode of a hierarchy's root is 1, by whatever path it is reached. */
function isHierarchyRoot(path: string): boolean {
  return identityOf(path)?.endsWith(":1") === true || mountpointsOf(readHierarchies()).includes(path);
}

function isAboveSelf(path: string): boolean {
  if (!mountpointsOf(readHierarchies()).some((mountpoint) => path.startsWith(`${mountpoint}/`))) return false;
  const own = directoryOf("self", path);
  return own !== undefined && (own === path || own.startsWith(`${path}/`));
}
