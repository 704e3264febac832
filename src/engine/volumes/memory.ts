/** Scratch volumes in memory: a tmpfs that the daemon mounts, so that all containers of the task share it. */
import { mountAt, outputOf, unmount } from "../../node/index.ts";

/**
 * Mounts the tmpfs, whose root belongs to root and is closed to others. May be repeated.
 * @param bytes size limit; undefined: half of the host's memory, the kernel's default. @throws Error: the message of mount(8), or that something else is mounted
 */
export async function mountMemory(path: string, bytes: number | undefined): Promise<void> {
  const there = mountAt(path);
  if (there?.type === "tmpfs") return;
  // What is written there would be on somebody's disk.
  if (there !== undefined) throw new Error(`a file system of the type ${there.type} is mounted at ${path}, and not this volume`);
  // Without a mode the kernel takes 1777, and everybody who reaches the directory may write to it.
  const options = ["nosuid", "nodev", "mode=0700", "uid=0", "gid=0", ...(bytes === undefined ? [] : [`size=${bytes}`])].join(",");
  await outputOf("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path]);
}

/** Unmounts the tmpfs; its contents are lost. May be repeated. @throws Error: the message of umount(8) */
export async function unmountMemory(path: string): Promise<void> {
  // Copies of the mount may still exist in the mount namespaces of containers that are being removed.
  await unmount(path);
}
