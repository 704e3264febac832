/** Being told when the kernel kills for memory in a container's cgroup. */
import * as host from "../../host/index.ts";
import type { CgroupRef } from "../model.ts";
import { readIfThere } from "./tree.ts";

export interface OomWatch {
  /** Readable when there may be news; to be polled. */
  readonly fd: number;
  /** Whether there was an OOM since the last call. */
  take(): boolean;
  close(): void;
}

/** undefined: the container has no memory controller. @throws HostError */
export function watchOom({ version, paths }: CgroupRef): OomWatch | undefined {
  const file = version === 2 ? "memory.events" : "memory.oom_control";
  const directory = paths.find((path) => host.access(`${path}/${file}`, host.ACCESS.EXIST));
  if (directory === undefined) return undefined;
  return version === 2 ? watchUnified(`${directory}/${file}`) : watchV1(directory, file);
}

/** The file is modified for other reasons too, and its notifications may come late: the counter decides. */
function watchUnified(path: string): OomWatch {
  const count = () => Number(/^oom_kill (\d+)$/m.exec(readIfThere(path) ?? "")?.[1] ?? 0);
  const fd = host.watchModified(path);
  let known = count();
  return {
    fd,
    take() {
      host.drain(fd);
      const now = count();
      const isNew = now > known;
      known = Math.max(known, now);
      return isNew;
    },
    close: () => host.close(fd),
  };
}

/** An eventfd that is registered for the file (Documentation/admin-guide/cgroup-v1/memory.rst, OOM control); a kill may signal it more than once. */
function watchV1(directory: string, file: string): OomWatch {
  const fd = host.eventfd();
  const control = host.open(`${directory}/${file}`, host.O.RDONLY);
  host.writeFile(`${directory}/cgroup.event_control`, `${fd} ${control}`, host.O.WRONLY, 0);
  return {
    fd,
    // The end of the cgroup is an event of its own.
    take: () => host.drain(fd) && host.access(`${directory}/cgroup.event_control`, host.ACCESS.EXIST),
    close() {
      host.close(control);
      host.close(fd);
    },
  };
}

export interface MemoryPressure {
  /** As the file has it: bytes, or "max". */
  readonly limit: string;
  /** Processes of the container that the kernel has killed for memory. */
  readonly kills: number;
}

/** How the memory limit was felt so far; undefined without a memory controller. memory.events (v2), memory.oom_control (v1). */
export function memoryPressure({ version, paths, oomKills = 0 }: CgroupRef): MemoryPressure | undefined {
  const [events, limit] = version === 2 ? ["memory.events", "memory.max"] : ["memory.oom_control", "memory.limit_in_bytes"];
  const directory = paths.find((path) => host.access(`${path}/${events}`, host.ACCESS.EXIST));
  if (directory === undefined) return undefined;
  const kills = /^oom_kill (\d+)$/m.exec(readIfThere(`${directory}/${events}`) ?? "")?.[1] ?? "0";
  return { limit: readIfThere(`${directory}/${limit}`)?.trim() ?? "", kills: Number(kills) - oomKills };
}
