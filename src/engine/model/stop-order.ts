/** The order of stopping: containers stop before the containers on which they depend. */
import { dependencyTarget } from "../spec/index.ts";
import { dependenciesIn, type Place } from "./dependencies.ts";
import type { DecisionContext } from "./host.ts";
import type { ContainerRecord, TaskRecord } from "./record.ts";

/**
 * The containers that must end before `container` may be stopped: all that depend on it, directly or indirectly, and are to stop as well. A dependent that keeps
 * running, or that cannot be stopped, holds nothing back. The pause container waits for all containers of its task.
 */
export function stopsBefore(record: TaskRecord, container: ContainerRecord, { peers, replaced, options }: DecisionContext): Place[] {
  const all = [record, ...peers, ...replaced].flatMap((task) => task.containers.map((one): Place => ({ task, container: one })));
  const before =
    container.type === "namespacePause"
      ? all.filter((place) => place.task === record && place.container !== container)
      : dependentsOf({ task: record, container }, all);
  return before.filter(({ task, container: one }) => {
    // A restart stops in this order, too.
    const isStopping = task.desired === "STOPPED" || one.desired === "STOPPED" || one.isRestartAsked;
    return isStopping && one.known !== "STOPPED" && one.stop.failures < options.stopTries;
  });
}

function dependentsOf(of: Place, all: readonly Place[]): Place[] {
  const found = new Set<Place>();
  const open = [of];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { task, container } = next;
    for (const place of all) {
      if (found.has(place) || place.container === of.container || !dependsOn(place, task.name, container.name)) continue;
      found.add(place);
      open.push(place);
    }
  }
  return [...found];
}

function dependsOn({ task, container }: Place, name: string, target: string): boolean {
  return dependenciesIn(task, container.name).some((dependency) => {
    const named = dependencyTarget(task.name, dependency);
    return named.task === name && named.container === target;
  });
}
