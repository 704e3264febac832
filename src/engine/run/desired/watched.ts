/** Files of directories that the daemon watches, and the tasks that it has made from them. */
import type { TaskRecord } from "../../model/index.ts";
import { replicaOf, type TaskSpec } from "../../spec/index.ts";
import { EngineError } from "../errors.ts";
import { type Applied, currentOf } from "./apply.ts";
import type { Commands } from "./commands.ts";
import type { WatchedFile } from "./watched-record.ts";

export interface WatchedSource extends WatchedFile {
  readonly path: string;
  /** Whether the group is a Compose project. */
  readonly isProject: boolean;
  /** Networks of the whole host in which a task has to be. */
  readonly networks?: readonly string[] | undefined;
  /** Paths of watched files that are gone: the file may have been renamed, and then its tasks stay. */
  readonly gone: readonly string[];
}

/** TaskRecord.from of a task that was made from a watched file. No path of a client begins like this. */
export function watchOrigin(path: string): string {
  return `watch:${path}`;
}

/**
 * Makes the tasks of a watched file those of this version, and removes those that were made from it and that it no longer has.
 * @throws EngineError no-room, other-origin, unknown-network, unknown-volume
 */
export function applyWatched(commands: Commands, specs: readonly TaskSpec[], source: WatchedSource): readonly Applied[] {
  const { path, group, digest, commit, fileSystem, isProject, networks, gone } = source;
  const from = watchOrigin(path);
  refuseOthers(commands.tasks, specs, { group, isProject, own: new Set([from, ...gone.map(watchOrigin)]) });
  const names = new Set(specs.map(({ name }) => name));
  const all = specs.length === 0 ? [] : commands.apply({ tasks: specs, pools: [] }, group, { from, isProject, networks, takeOver: true });
  const removed = removeTasks(commands, from, (task) => task.group !== group || !names.has(task.name));
  const applied = [...all.filter(({ change }) => change !== "absent"), ...removed];
  const file = { group, digest, ...(commit === undefined ? {} : { commit }), fileSystem };
  commands.facts = { ...commands.facts, watched: { ...commands.facts.watched, [path]: file } };
  commands.tell({ type: "watch", state: "applied", path, group, message: summaryOf(applied), ...(commit === undefined ? {} : { commit }) });
  return applied;
}

/** Removes the tasks of a watched file that is gone, and forgets it. */
export function removeWatched(commands: Commands, path: string): readonly Applied[] {
  const { [path]: file, ...watched } = commands.facts.watched ?? {};
  const removed = removeTasks(commands, watchOrigin(path), () => true);
  commands.facts = { ...commands.facts, watched };
  if (file !== undefined) commands.tell({ type: "watch", state: "removed", path, group: file.group, message: summaryOf(removed) });
  return removed;
}

interface Claim {
  readonly group: string;
  readonly isProject: boolean;
  readonly own: ReadonlySet<string>;
}

/** @throws EngineError other-origin: a task of this name was made by somebody else, or the project has tasks of somebody else */
function refuseOthers(tasks: readonly TaskRecord[], specs: readonly TaskSpec[], { group, isProject, own }: Claim): void {
  const isOwn = ({ from, spec }: TaskRecord) => (from === undefined ? replicaOf(spec) !== undefined : own.has(from));
  const named = specs.flatMap(({ name }) => currentOf(tasks, group, name) ?? []);
  const ofGroup = isProject ? tasks.filter((task) => task.group === group && !task.isDeleteAsked && task.from !== undefined) : [];
  const other = [...named, ...ofGroup].find((task) => !isOwn(task));
  if (other === undefined) return;
  const maker = other.from === undefined ? "by a request without a file" : `from ${other.from.replace(/^watch:/, "")}`;
  throw new EngineError(
    "other-origin",
    `task ${other.name} of group ${group} was made ${maker}: delete it, or give one of them another name`,
    {
      ...{ group, tasks: [other.name] },
    },
  );
}

function removeTasks(commands: Commands, from: string, isGone: (task: TaskRecord) => boolean): Applied[] {
  const own = commands.tasks.filter((task) => task.from === from && !task.isDeleteAsked && isGone(task));
  for (const group of new Set(own.map((task) => task.group))) {
    const ids = own.filter((task) => task.group === group).map(({ id }) => id);
    commands.deleteAll({ names: ids, mayBeMissing: true }, group);
  }
  return own.map(({ id, name }) => ({ id, name, change: "removed" }));
}

/** More names would make an event long. */
const MOST_NAMES = 20;

/** Such as "created web; removed old". */
function summaryOf(applied: readonly Applied[]): string {
  const changed = applied.filter(({ change }) => change !== "unchanged" && change !== "succeeded");
  if (changed.length === 0) return "no task changes";
  const kinds = [...new Set(changed.map(({ change }) => change))];
  const namesOf = (kind: Applied["change"]) => {
    const names = changed.filter(({ change }) => change === kind).map(({ name }) => name);
    return names.length <= MOST_NAMES ? names.join(", ") : `${names.length} tasks`;
  };
  return kinds.map((kind) => `${kind} ${namesOf(kind)}`).join("; ");
}
