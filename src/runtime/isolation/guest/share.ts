/**
 * A mount of the host below the shared directory is a file system of its own in the guest, which the kernel mounts when a path first leads into it.
 * Mounted in a container alone it would end with it, and where the file server has yet to answer for a file that was closed, the kernel has a bug
 * there: the container's last process never ends (BUG in generic_shutdown_super, Linux 6.1). So all are mounted here, too, and stay until the machine
 * ends or the file server has answered for everything.
 */
import * as host from "../../host/index.ts";
import type { Loop } from "../flow/index.ts";
import * as kernel from "../kernel.ts";
import { GUEST } from "../places.ts";

/** A directory for each connection to a file server (fuse.rst of the kernel). */
export const CONNECTIONS = "/sys/fs/fuse/connections";
/** MS_BIND and MS_REC (sys/mount.h). */
const BIND_ALL = 0x1000 | 0x4000;
const PAUSE_MS = 20;
const ATTEMPTS = 250;

/** Mount namespaces of containers. Each stays as long as it is open; so do the file systems of the share that were mounted in it alone. */
const held = new Map<string, number>();
/** Entries of the share of containers that have joined. */
const taken = new Map<string, string>();

export function mountShared(directory: string): void {
  // A path through a directory mounts, one that ends there does not. Volumes that are files have no file system of their own.
  for (const name of host.readdir(directory)) host.stat(`${directory}/${name}/.`);
}

/** What a container that joins has of the share comes to where its configuration says. */
export function takeShare(id: string, shared: string): void {
  const place = `${GUEST.joined}/${id}`;
  taken.set(id, shared);
  host.tryMkdir(place, 0o755);
  mountShared(`${GUEST.share}/${shared}/.`);
  kernel.mount(`${GUEST.share}/${shared}`, place, "", BIND_ALL, "");
}

/** `pid`: a process of the container. */
export function keepMounts(id: string, pid: number): void {
  try {
    held.set(id, host.open(`/proc/${pid}/ns/mnt`, host.O.RDONLY));
  } catch (error) {
    // It has ended.
    if (!host.isErrno(error, "ENOENT", "ESRCH", "EACCES")) throw error;
  }
}

/** When no process of the container is there any more. Where the file server answers for too long, all stays until the machine ends. */
export function leaveShare(loop: Loop, id: string, done: () => void): void {
  let attempts = ATTEMPTS;
  const look = (): void => {
    if (isBusy()) {
      if (--attempts === 0) done();
      else loop.setAlarm(PAUSE_MS, look, `share ${id}`);
      return;
    }
    const mounts = held.get(id);
    held.delete(id);
    if (mounts !== undefined) host.close(mounts);
    const shared = taken.get(id);
    if (taken.delete(id)) {
      for (const place of [`${GUEST.joined}/${id}`, `${GUEST.share}/${shared}`]) detach(place);
      host.rmdir(`${GUEST.joined}/${id}`);
    }
    done();
  };
  look();
}

/** The file server has yet to answer. */
function isBusy(): boolean {
  return host.readdir(CONNECTIONS).some((name) => host.readFile(`${CONNECTIONS}/${name}/waiting`, undefined, true).trim() !== "0");
}

function detach(place: string): void {
  if (!host.stat(place)) return;
  const fd = host.open(`${place}/.`, host.O.PATH | host.O.DIRECTORY);
  try {
    host.detachMount(fd);
  } catch (error) {
    // The container was given up before it was mounted.
    if (!host.isErrno(error, "EINVAL")) throw error;
  } finally {
    host.close(fd);
  }
}
