/** Resources of config.json -> what to make and write in the cgroup tree. Pure: `create --dry-run` prints exactly this. */
import type { ResourceConfig } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import { rulesOf } from "../devices/emulator.ts";
import { type CgroupHierarchies, cgroupDirectories } from "../model.ts";
import { writeResources } from "./resources.ts";
import { createSink } from "./sink.ts";
import type { CgroupOptions, CgroupSteps } from "./steps.ts";

/**
 * @param path the container's cgroup as `resolveCgroup` gives it.
 * @throws RuntError cgroup when a controller that is needed is not there, config-invalid for values that cannot be.
 */
export function compileCgroup(facts: CgroupHierarchies, path: string, resources: ResourceConfig, options: CgroupOptions): CgroupSteps {
  const directories = cgroupDirectories(facts, path);
  const [directory] = directories;
  if (facts.version === 2 && directory === undefined) throw new RuntError("cgroup", "no cgroup2 file system is mounted");
  const sink = createSink(facts, path);
  writeResources(facts.version, sink, resources, options);
  // Without rights on the host it is enough to be where limits are.
  const unified = facts.unified === undefined || options.rootless ? undefined : facts.unified + path;
  const tasks = facts.version === 1 ? directories.map((one) => `${one}/tasks`) : undefined;
  const join = tasks === undefined ? { directory: directory! } : unified === undefined ? { tasks } : { tasks, directory: unified };
  const { writes, warnings } = sink;
  const create = directories.map((one) => ({ path: one }));
  const steps = { create, writes, join, warnings, ...(unified !== undefined && { unified }) };
  if (facts.version === 1 || options.rootless) return steps;
  return { ...steps, devices: { path: directory!, rules: rulesOf(resources) } };
}
