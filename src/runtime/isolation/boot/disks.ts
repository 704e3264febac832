/** Block devices of the host that a machine has as disks. Each is opened once, and the hypervisor gets the descriptor. */
import * as host from "../../host/index.ts";
import { JAIL } from "../places.ts";
import type { Disk } from "../request.ts";

const BLOCK = 0o6;

/**
 * Descriptors of the disks, in their order. A disk that is only read is opened for reading only: whatever the hypervisor does, the kernel refuses its
 * writes. @throws Error: the node in the jail is not the device that was asked for
 */
export function openDisks(disks: readonly Disk[]): number[] {
  return disks.map(({ major, minor, readonly }, number) => {
    const path = `${JAIL.disks}${number}`;
    const fd = host.open(path, (readonly ? host.O.RDONLY : host.O.RDWR) | host.O.NONBLOCK | host.O.NOFOLLOW);
    const { mode, rdevMajor, rdevMinor } = host.fstat(fd);
    if (mode >> 12 === BLOCK && rdevMajor === major && rdevMinor === minor) return fd;
    throw new Error(`${path} is not the block device ${major}:${minor}`);
  });
}
