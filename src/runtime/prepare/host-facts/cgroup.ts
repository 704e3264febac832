/** The cgroup part of the host facts. */
import { readHierarchies } from "../../cgroup/index.ts";
import type { HostFacts } from "../../check/index.ts";
import * as host from "../../host/index.ts";
import { names } from "./read.ts";

/** Cgroups looked into for each hierarchy: on v2 not every one has the files of every controller. */
const LOOKED_INTO = 8;

export function recordCgroup(): HostFacts["cgroup"] {
  const { version, hierarchies, unified } = readHierarchies();
  const files = new Set(hierarchies.flatMap(({ mountpoint }) => filesBelow(mountpoint)));
  return {
    version,
    hierarchies: hierarchies.map(({ mountpoint, controllers }) => ({
      mountpoint,
      controllers: [...controllers],
      writable: host.access(mountpoint, host.ACCESS.WRITE),
    })),
    ...(unified !== undefined && { unified }),
    files: [...files].sort(),
  };
}

/** The root cgroup has fewer files than the cgroups below it. */
function filesBelow(mountpoint: string): string[] {
  const children = names(mountpoint)
    .map((name) => `${mountpoint}/${name}`)
    .filter((path) => (host.lstat(path)?.mode ?? 0) >> 12 === 4);
  return children
    .slice(0, LOOKED_INTO)
    .flatMap((path) => names(path).filter((name) => /^[a-z0-9_]+\.[\w.]+$/i.test(name) && isFile(`${path}/${name}`)));
}

function isFile(path: string): boolean {
  return (host.lstat(path)?.mode ?? 0) >> 12 === 8;
}
