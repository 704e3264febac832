/** What applying a file would do. Nothing is done. */
import { currentPool, taskId, UserRanges } from "../model/index.ts";
import { systemClock } from "./clock.ts";
import { type ApplyOptions, differenceOf, type TaskDifference } from "./desired/apply.ts";
import { fieldDifferences } from "./desired/differences.ts";
import { projectsIn } from "./desired/origin.ts";
import { planPools } from "./desired/pools.ts";
import { specsIn, type TaskFile } from "./desired/specs.ts";
import type { EngineParts } from "./parts.ts";

/** @throws EngineError invalid-spec, invalid-argument, no-room, other-origin, unknown-network, unknown-volume */
export function differencesIn(file: TaskFile, group: string, options: ApplyOptions, parts: EngineParts): TaskDifference[] {
  const specs = specsIn(file, parts.support);
  const [tasks, succeeded, pools] = [[...parts.records.values()], [...parts.succeeded.values()], [...parts.poolRecords.values()]];
  const { capacity, users, edits } = parts;
  const projectOf = projectsIn(edits.facts.projects ?? {}, tasks, edits.hasVolumes);
  const { revision } = edits;
  const at = systemClock.now();
  const ranges = new UserRanges([...tasks, ...pools], users);
  const newId = (name: string) => taskId(group, name, revision + 1);
  const ofPools = planPools(specs.pools, group, { pools, ranges, newId, atMs: at.wallMs }, options);
  const present = {
    tasks,
    projectOf,
    isKept: edits.isKept,
    succeeded,
    capacity,
    revision,
    at,
    users,
    pools,
    hasPools: specs.pools.length > 0,
    cgroupOf: () => null,
  };
  const poolDifferences = ofPools.applied.map(({ name, change }): TaskDifference => {
    const [before, now] = [currentPool(pools, group, name)?.spec, specs.pools.find((one) => one.name === name)];
    return { kind: "pool", name, change, fields: before === undefined || now === undefined ? [] : fieldDifferences(before, now, "") };
  });
  return [...differenceOf(specs.tasks, group, present, options), ...poolDifferences];
}
