/** What the mounts of a container are of: opened and checked once, and named to the runtime by device and inode, so that nothing else is mounted. */
import { closeSync, fstatSync } from "node:fs";
import { type MountSource, sourceOf } from "../../plan/index.ts";
import type { ContainerSpec, TaskSpec } from "../../spec/index.ts";
import { openBelow, openSource } from "../../volumes/index.ts";

export interface OpenSources {
  /** In the order of the container's mounts. */
  readonly sources: readonly MountSource[];
  /** To be called when the container is launched, or will not be. Until then no other file can get one of these inodes. */
  close(): void;
}

export interface SourceRules {
  /** Returns the path of a volume that the engine makes. */
  readonly volume: (name: string) => string;
  /** Whether the container is in a virtual machine. */
  readonly isInMachine: boolean;
}

/** @throws Error: a source is missing, is reached through a symbolic link, or is of another type; in a machine also if it is neither a file nor a directory */
export function openSources(task: TaskSpec, { mounts }: ContainerSpec, { volume, isInMachine }: SourceRules): OpenSources {
  const open: number[] = [];
  const close = () => open.splice(0).forEach(closeSync);
  try {
    const sources = mounts.map((mount): MountSource => {
      const ofHost = hostSource(task, mount);
      const made = () => [volume(mount.volume!), mount.subPath].filter((part) => part !== undefined).join("/");
      const path = ofHost?.path ?? made();
      const fd = ofHost === undefined ? openBelow(volume(mount.volume!), mount.subPath) : openSource(ofHost.path, ofHost.type);
      open.push(fd);
      if (isInMachine && ofHost !== undefined) checkReachable(fd, ofHost.path);
      const { dev: device, ino: inode } = fstatSync(fd, { bigint: true });
      return { path, device, inode };
    });
    return { sources, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Checks the files and directories of the host before anything is created. @throws as openSources */
export function checkHostSources(task: TaskSpec, container: ContainerSpec, rules: SourceRules): void {
  const mounts = container.mounts.filter((mount) => hostSource(task, mount) !== undefined);
  openSources(task, { ...container, mounts }, rules).close();
}

/** undefined: it is a volume that the engine makes. With `hostPaths` this includes volumes of the host, which the engine has bound already. */
function hostSource(task: TaskSpec, mount: ContainerSpec["mounts"][number]) {
  const path = task.hostPaths === undefined ? sourceOf(task, mount) : undefined;
  if (path === undefined) return undefined;
  // `hostType` of a volume describes its top directory, not a path below it.
  const type = mount.subPath === undefined ? task.volumes.find(({ name }) => name === mount.volume)?.hostType : undefined;
  return { path, type };
}

/** The other side of a socket or a device is in the kernel of the host, so that a virtual machine sees it and cannot use it. */
function checkReachable(fd: number, path: string): void {
  const found = fstatSync(fd);
  if (!found.isFile() && !found.isDirectory())
    throw new Error(`${path} is neither a file nor a directory: a virtual machine cannot use it`);
}
