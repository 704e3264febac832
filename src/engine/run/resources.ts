/** Resources of a task beside its containers: its cgroup, scratch volumes and volumes with files. Making and removing them may be repeated. */
import { cgroupVersion } from "../../executor/index.ts";
import { isSlice, makeTaskCgroup, makeTaskSlice, removeTaskCgroup, removeTaskSlice } from "../cgroup/index.ts";
import type { TaskRecord } from "../model/index.ts";
import { limitWrites, sliceProperties, taskResources } from "../plan/index.ts";
import type { TaskSpec } from "../spec/index.ts";
import { makeFiles, makeScratch, removeScratch } from "../volumes/index.ts";
import type { Paths } from "./paths.ts";

const VOLUME = "volume:";

export interface ResourcePlaces {
  readonly paths: Paths;
  /** Path of the program runt. */
  readonly binary: string;
}

/** @throws Error, which names what could not be made */
export async function createResource({ id, spec, cgroup }: TaskRecord, name: string, { paths, binary }: ResourcePlaces): Promise<void> {
  if (name.startsWith(VOLUME)) makeVolume(spec, paths.volume(id, name.slice(VOLUME.length)), name.slice(VOLUME.length));
  else if (isSlice(cgroup!)) await makeTaskSlice(binary, cgroup!, sliceProperties(taskResources(spec), id));
  else makeTaskCgroup(cgroup!, limitWrites(taskResources(spec), cgroupVersion()));
}

function makeVolume({ volumes }: TaskSpec, path: string, name: string): void {
  const files = volumes.find((one) => one.name === name)?.files;
  if (files === undefined) makeScratch(path);
  else makeFiles(path, files);
}

/** @throws Error, which names what is left */
export async function removeResource({ id, cgroup }: TaskRecord, name: string, { paths, binary }: ResourcePlaces): Promise<void> {
  if (name.startsWith(VOLUME)) await removeScratch(paths.volume(id, name.slice(VOLUME.length)));
  else if (isSlice(cgroup!)) await removeTaskSlice(binary, cgroup!);
  else await removeTaskCgroup(cgroup!);
}
