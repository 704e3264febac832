/** Resources of config.json -> what to make and write in the cgroup tree. Pure: `create --dry-run` prints exactly this. */
import type { ResourceConfig } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import { rulesOf } from "../devices/usual.ts";
import { type CgroupHierarchies, cgroupDirectories } from "../model.ts";
import { createSink } from "./sink.ts";
import type { CgroupOptions, CgroupSteps } from "./steps.ts";
import { writeV1 } from "./v1.ts";
import { writeV2 } from "./v2.ts";

/**
 * @param path the container's cgroup as `resolveCgroup` gives it.
 * @throws RuntError cgroup when a controller that is needed is not there, config-invalid for values that cannot be.
 */
export function compileCgroup(facts: CgroupHierarchies, path: string, resources: ResourceConfig, options: CgroupOptions): CgroupSteps {
  const directories = cgroupDirectories(facts, path);
  const sink = createSink(facts, path);
  const create = directories.map((directory) => ({ path: directory }));
  if (facts.version === 1) {
    writeV1(sink, resources, options);
    const tasks = directories.map((directory) => `${directory}/tasks`);
    return { create, writes: sink.writes, join: { tasks }, warnings: sink.warnings };
  }
  const [directory] = directories;
  if (directory === undefined) throw new RuntError("cgroup", "no cgroup2 file system is mounted");
  writeV2(sink, resources);
  if (options.rootless) {
    if (resources.devices.length > 0) sink.warn("devices", "device rules need rights on the host and are left out");
    return { create, writes: sink.writes, join: { directory }, warnings: sink.warnings };
  }
  const rules = rulesOf(resources);
  return { create, writes: sink.writes, join: { directory }, devices: { path: directory, rules }, warnings: sink.warnings };
}
