/** Resources of a task beside its containers: its cgroup, scratch volumes and volumes with files. Making and removing them may be repeated. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { cgroupVersion } from "../../executor/index.ts";
import { isSlice, makeTaskCgroup, makeTaskSlice, removeTaskCgroup, removeTaskSlice } from "../cgroup/index.ts";
import type { TaskRecord } from "../model/index.ts";
import { limitWrites, sliceProperties, taskResources } from "../plan/index.ts";
import type { TaskSpec } from "../spec/index.ts";
import { bindWithin, giveScratch, makeFiles, makeScratch, mountMemory, removeScratch, unbind, unmountMemory } from "../volumes/index.ts";
import type { Paths } from "./paths.ts";

const VOLUME = "volume:";

export interface ResourcePlaces {
  readonly paths: Paths;
  /** Path of the program runt. */
  readonly binary: string;
}

/** @throws Error, which names what could not be made */
export async function createResource({ id, spec, cgroup }: TaskRecord, name: string, { paths, binary }: ResourcePlaces): Promise<void> {
  if (name.startsWith(VOLUME)) await makeVolume(spec, paths.volume(id, name.slice(VOLUME.length)), name.slice(VOLUME.length), paths.own);
  else if (isSlice(cgroup!)) await makeTaskSlice(binary, cgroup!, sliceProperties(taskResources(spec), id));
  else makeTaskCgroup(cgroup!, limitWrites(taskResources(spec), cgroupVersion()));
}

async function makeVolume(
  { volumes, hostPaths: allowed = [] }: TaskSpec,
  path: string,
  name: string,
  own: readonly string[],
): Promise<void> {
  const { files, group, medium, size, host, hostType: type } = volumes.find((one) => one.name === name) ?? {};
  if (host !== undefined) {
    mkdirSync(dirname(path), { recursive: true });
    return bindWithin({ path: host, type, allowed, own }, path);
  }
  if (files !== undefined) return makeFiles(path, files, group);
  makeScratch(path, group);
  if (medium !== "memory") return;
  await mountMemory(path, size);
  giveScratch(path, group);
}

/** @throws Error, which names what is left */
export async function removeResource({ id, spec, cgroup }: TaskRecord, name: string, { paths, binary }: ResourcePlaces): Promise<void> {
  if (name.startsWith(VOLUME)) {
    const volume = name.slice(VOLUME.length);
    const path = paths.volume(id, volume);
    // The content of a directory of the host stays.
    if (spec.volumes.find((one) => one.name === volume)?.host !== undefined) return unbind(path);
    await unmountMemory(path);
    await removeScratch(path);
  } else if (isSlice(cgroup!)) await removeTaskSlice(binary, cgroup!);
  else await removeTaskCgroup(cgroup!);
}
