/** One look at everything that runt may have left behind. Nothing is changed. */
import { cgroupCensus, findMarked, type Left, lookAround, type MarkedCgroup } from "../../cgroup/index.ts";
import { RuntError } from "../../errors/index.ts";
import { ownerOf } from "../../execute/index.ts";
import * as host from "../../host/index.ts";
import type { RuntimeOptions } from "../../prepare/index.ts";
import { containerDirectory, halfWrittenFilters, isId, listIds, notOurs, readRecord, type StateRecord } from "../../state/index.ts";
import { tryLock } from "./lock.ts";
import { cgroupAt } from "./place.ts";
import type { Kept, Look, Remains } from "./remains.ts";
import { isOfRoot } from "./roots.ts";

type Found = Remains | Kept;

export function look(options: RuntimeOptions): Look {
  const { containers, emptyLevels } = findMarked(options.rootless);
  const isOurs = ({ mark }: MarkedCgroup) => isOfRoot(mark, options.root);
  const found: Found[] = [
    ...listIds(options.root).flatMap((id) => stateOf(options.root, id) ?? []),
    ...containers.filter(isOurs).flatMap((marked) => cgroupOf(options.root, marked) ?? []),
    ...emptyLevels.map((path): Found => ({ key: `level ${path}`, kind: "level", paths: [path], reason: "empty, and made by runt" })),
    ...cacheFiles(options.root),
  ];
  const others = containers.filter((marked) => !isOurs(marked)).map(({ mark }) => mark.root);
  return {
    remains: found.filter((one) => "key" in one),
    kept: found.filter((one): one is Kept => !("key" in one)),
    otherRoots: [...new Set(others)].sort(),
  };
}

/** undefined: the directory of a container, or of a create under way. */
function stateOf(root: string, id: string): Found | undefined {
  const lock = tryLock(root, id);
  if (lock === undefined) return undefined;
  const paths = [containerDirectory(root, id)];
  try {
    const { ino: inode } = host.fstat(lock);
    const here = { key: `state ${id} ${inode}`, kind: "state", id, inode, paths } as const;
    if (!host.lstat(`${paths[0]}/state.json`)) {
      const foreign = notOurs(root, id);
      if (foreign !== undefined) return { kind: "state", id, paths, reason: `not taken for remains: ${foreign}` };
      return { ...here, reason: "its create ended before it had a record" };
    }
    const record = readRecord(root, id);
    if (record.phase !== "creating") return undefined;
    const { stuck, others, unseen } = livingIn(root, record);
    if (stuck.length > 0) return { kind: "state", id, paths, processes: stuck, reason: "its create ended, but processes of it live" };
    const half = { ...here, created: record.created, reason: "its create ended half-way" } as const;
    return others.length + unseen === 0 ? half : { ...half, processes: others, reason: `${half.reason}; ${leaves(unseen)}` };
  } catch (error) {
    if (!(error instanceof RuntError)) throw error;
    return error.code === "id-unknown" ? undefined : { kind: "state", id, paths, reason: error.message };
  } finally {
    host.close(lock);
  }
}

const NOBODY = { stuck: [], others: [], unseen: 0 };

function livingIn(root: string, record: StateRecord): Left {
  return record.cgroup ? lookAround(record.cgroup, ownerOf(record, root)) : NOBODY;
}

/** Of processes in its cgroup that nothing proves to be its own. */
function leaves(unseen: number): string {
  const more = unseen === 0 ? "" : ` (and ${unseen} that cannot be seen from this PID namespace)`;
  return `others in its cgroup are left alone${more}`;
}

/** undefined: there is a container, or there may be one. */
function cgroupOf(root: string, { mark, path }: MarkedCgroup): Found | undefined {
  const { id, kept = [], unit } = mark;
  if (!isId(id) || host.lstat(containerDirectory(root, id))) return undefined;
  const cgroup = cgroupAt(path, kept);
  const { paths } = cgroup;
  const { pids, unseen } = cgroupCensus(cgroup);
  if (pids.size + unseen > 0) {
    const processes = [...pids].sort((one, other) => one - other);
    return { kind: "cgroup", id, paths, processes, reason: "its state is lost, but processes of it live" };
  }
  const named = unit !== undefined && path.endsWith(`/${unit}`) ? { unit } : {};
  return { key: `cgroup ${path} ${id}`, kind: "cgroup", id, paths, kept, ...named, reason: "its state is lost, and nothing lives in it" };
}

/** What a killed process was about to put into the cache of filters. */
function cacheFiles(root: string): Found[] {
  return halfWrittenFilters(root).map((path) => ({ key: `cache ${path}`, kind: "cache", paths: [path], reason: "half-written" }));
}
