/** Resources of a task beside its containers: its cgroup, scratch volumes and volumes with files. Making and removing them may be repeated. */
import { cgroupVersion } from "../../executor/index.ts";
import { makeTaskCgroup, removeTaskCgroup } from "../cgroup/index.ts";
import type { TaskRecord } from "../model/index.ts";
import { limitWrites, taskResources } from "../plan/index.ts";
import type { TaskSpec } from "../spec/index.ts";
import { makeFiles, makeScratch, removeScratch } from "../volumes/index.ts";
import type { Paths } from "./paths.ts";

const VOLUME = "volume:";

/** @throws Error, which names what could not be made */
export function createResource({ id, spec, cgroup }: TaskRecord, name: string, paths: Paths): void {
  if (name.startsWith(VOLUME)) makeVolume(spec, paths.volume(id, name.slice(VOLUME.length)), name.slice(VOLUME.length));
  else makeTaskCgroup(cgroup!, limitWrites(taskResources(spec), cgroupVersion()));
}

function makeVolume({ volumes }: TaskSpec, path: string, name: string): void {
  const files = volumes.find((one) => one.name === name)?.files;
  if (files === undefined) makeScratch(path);
  else makeFiles(path, files);
}

/** @throws Error, which names what is left */
export async function removeResource({ id, cgroup }: TaskRecord, name: string, paths: Paths): Promise<void> {
  if (name.startsWith(VOLUME)) await removeScratch(paths.volume(id, name.slice(VOLUME.length)));
  else await removeTaskCgroup(cgroup!);
}
