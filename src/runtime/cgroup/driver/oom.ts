import * as host from "../../host/index.ts";
import type { CgroupRef } from "../model.ts";
import { readIfThere } from "./tree.ts";

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
