/** Makes and removes the resources that a task has beside its containers: its cgroup, scratch volumes and volumes with files. Each operation can be repeated. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { cgroupVersion } from "../../../executor/index.ts";
import { isSlice, makeTaskCgroup, makeTaskSlice, removeTaskCgroup, removeTaskSlice } from "../../cgroup/index.ts";
import type { TaskRecord } from "../../model/index.ts";
import { unmountBelow } from "../../own/index.ts";
import { isInMachine, limitWrites, type Runtimes, sliceProperties, taskResources } from "../../plan/index.ts";
import {
  bindWithin,
  forgetFilling,
  giveScratch,
  makeFiles,
  makeScratch,
  mountImage,
  mountMemory,
  removeOther,
  removeScratch,
  unbind,
  unmountImage,
  unmountMemory,
} from "../../volumes/index.ts";
import type { Paths } from "../paths.ts";

const VOLUME = "volume:";

export interface ResourcePlaces {
  readonly paths: Paths;
  /** Path of the runt executable. */
  readonly binary: string;
  /** Programs of the runtimes that tasks may name. */
  readonly runtimes: Runtimes;
}

/** @throws Error: the resource cannot be made; the message has its name */
export async function createResource(record: TaskRecord, name: string, { paths, binary, runtimes }: ResourcePlaces): Promise<void> {
  const { id, spec, cgroup } = record;
  const limits = () => taskResources(spec, isInMachine(spec, runtimes));
  if (name.startsWith(VOLUME)) await makeVolume(record, name.slice(VOLUME.length), paths);
  else if (isSlice(cgroup!)) await makeTaskSlice(binary, cgroup!, sliceProperties(limits(), id));
  else makeTaskCgroup(cgroup!, limitWrites(limits(), cgroupVersion()));
}

async function makeVolume({ id, group: owner, spec }: TaskRecord, name: string, paths: Paths): Promise<void> {
  const { files, group, medium, size, host, hostType: type, kept } = spec.volumes.find((one) => one.name === name) ?? {};
  const path = paths.volume(id, name);
  removeOther(paths.volumes(id));
  if (host !== undefined) {
    mkdirSync(dirname(path), { recursive: true });
    return bindWithin({ path: host, type, allowed: spec.hostPaths ?? [], own: paths.own }, path);
  }
  if (kept !== undefined) {
    const directory = paths.kept(owner, kept);
    // A copy that a crash has left is of an earlier volume with this name.
    if (!existsSync(directory)) await forgetFilling(paths.filling(owner, kept));
    return makeKept(directory, group);
  }
  if (files !== undefined) return makeFiles(path, files, group);
  makeScratch(path, group);
  if (medium === undefined) return;
  await (medium === "image" ? mountImage(path, size!) : mountMemory(path, size));
  giveScratch(path, group);
}

/** An existing directory keeps the owner and mode that its users have given it. */
function makeKept(path: string, group: number | undefined): void {
  if (!existsSync(path)) makeScratch(path, group);
}

/** @throws Error: the resource cannot be removed; the message says what is left */
export async function removeResource(
  { id, spec, cgroup }: TaskRecord,
  name: string,
  { paths, binary }: Omit<ResourcePlaces, "runtimes">,
): Promise<void> {
  if (name.startsWith(VOLUME)) {
    const volume = name.slice(VOLUME.length);
    const path = paths.volume(id, volume);
    removeOther(paths.volumes(id));
    const { host, kept, medium } = spec.volumes.find((one) => one.name === volume) ?? {};
    // The volume is a bind mount of a host directory: only the mount is removed, not its content.
    if (host !== undefined) return unbind(path);
    if (kept !== undefined) return;
    await (medium === "image" ? unmountImage(path) : unmountMemory(path));
    // A crash may have left it.
    await forgetFilling(paths.fillingOf(id, volume));
    // A container whose mounts come to the host may have left some.
    unmountBelow(path);
    await removeScratch(path);
  } else if (isSlice(cgroup!)) await removeTaskSlice(binary, cgroup!);
  else await removeTaskCgroup(cgroup!);
}
