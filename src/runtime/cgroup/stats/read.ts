import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import type { CgroupRef } from "../model.ts";
import { pageSizeName } from "./parse.ts";
import type { ReadFile, Stats } from "./types.ts";
import { statsV1 } from "./v1.ts";
import { statsV2 } from "./v2.ts";

const HUGE_PAGES = "/sys/kernel/mm/hugepages";

/** What a container uses now. @throws RuntError cgroup when it has no cgroup any more */
export function readStats({ version, paths }: CgroupRef): Stats {
  const alive = paths.filter((path) => host.access(path, host.ACCESS.EXIST));
  if (alive.length === 0) throw new RuntError("cgroup", "the container's cgroup is gone");
  return version === 2 ? statsV2(reader(alive), pageSizes()) : statsV1(reader(alive), pageSizes());
}

/** The names of v1 files are unique across hierarchies, so whichever has the file has the value; the place is found once. */
function reader(paths: readonly string[]): ReadFile {
  const places = new Map<string, string>();
  return (file) => {
    const controller = file.slice(0, file.indexOf("."));
    const known = places.get(controller);
    if (known !== undefined) return readPart(`${known}/${file}`);
    // The usual name of the hierarchy first, to save probing the other ones.
    const likely = paths.filter((path) => path.includes(`/${controller}/`));
    for (const path of [...likely, ...paths]) {
      const text = readPart(`${path}/${file}`);
      if (text === undefined) continue;
      places.set(controller, path);
      return text;
    }
    return undefined;
  };
}

/** EOPNOTSUPP: a controller of the kernel that is switched off (pressure), or not for this kind of cgroup (threaded). */
function readPart(path: string): string | undefined {
  try {
    return host.readFile(path, undefined, true);
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ENODEV", "EOPNOTSUPP")) return undefined;
    throw error;
  }
}

function pageSizes(): string[] {
  if (!host.access(HUGE_PAGES, host.ACCESS.EXIST)) return [];
  return host.readdir(HUGE_PAGES).flatMap((name) => pageSizeName(name) ?? []);
}
