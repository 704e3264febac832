/** Where a further process of a container joins its cgroup (exec). */
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { defenceDisabled } from "../../testing/index.ts";
import { readHierarchies } from "../hierarchies.ts";
import type { CgroupRef } from "../model.ts";
import type { Owner } from "./survey.ts";
import { readIfThere } from "./tree.ts";
import { directoryOf, hierarchyOf } from "./where.ts";
import { refuseAnothers } from "./whose.ts";

const THREADED: ReadonlySet<string> = new Set(["threaded", "domain threaded"]);

/** `directory` beside `tasks`: in the v2 hierarchy of a hybrid host. */
export type Join = { readonly tasks: readonly string[]; readonly directory?: string } | { readonly directory: string };

/**
 * The container's own cgroup or, where that cannot take processes (gone, or v2 with controllers handed down), the one its init is
 * in now. `wanted`: [controller,...:]path below the container's cgroup, as `exec --cgroup` has it; then there is no fallback.
 * @throws RuntError cgroup
 */
export function execJoin(cgroup: CgroupRef, owner: Pick<Owner, "mark">, init: number, wanted: readonly string[]): Join {
  refuseAnothers(cgroup, owner);
  const directories = wanted.length > 0 ? wantedDirectories(cgroup, wanted) : cgroup.paths.map((path) => usable(cgroup, path, init));
  if (cgroup.version === 1) {
    const unified = unifiedDirectory(cgroup, init, wanted);
    return { tasks: directories.map((one) => `${one}/tasks`), ...(unified !== undefined && { directory: unified }) };
  }
  const [directory] = directories;
  if (directory === undefined) throw new RuntError("cgroup", "the container has no cgroup");
  return { directory };
}

function usable({ version }: CgroupRef, path: string, init: number): string {
  if (version === 1) return host.access(`${path}/tasks`, 0) ? path : (directoryOf(init, path) ?? path);
  return usableUnified(path, init) ?? path;
}

/**
 * The v2 hierarchy of a hybrid host follows processes and limits nobody: what cannot be joined there is no error. A path that is wanted in all
 * hierarchies is taken there if there is such a cgroup.
 */
function unifiedDirectory({ unified }: CgroupRef, init: number, wanted: readonly string[]): string | undefined {
  if (unified === undefined || readHierarchies().unified === undefined) return undefined;
  const below = wanted.filter((entry) => !entry.includes(":")).map((entry) => unified + subPath(entry));
  const there = below.findLast((path) => host.access(path, host.ACCESS.EXIST));
  return usableUnified(there ?? unified, init);
}

/** The directory, or the one that init is in now; undefined: neither can take processes. */
function usableUnified(path: string, init: number): string | undefined {
  const handedDown = readIfThere(`${path}/cgroup.subtree_control`)?.trim();
  if (handedDown === "") return path;
  // Threads may be where controllers are handed down to, processes may not.
  const takesProcesses = handedDown !== undefined && THREADED.has(readIfThere(`${path}/cgroup.type`)?.trim() ?? "");
  return takesProcesses ? path : directoryOf(init, path);
}

/** The directories of the container, those of the wanted hierarchies replaced by what is below them. @throws RuntError cgroup */
export function wantedDirectories({ version, paths }: CgroupRef, wanted: readonly string[]): string[] {
  const directories = [...paths];
  for (const entry of wanted) {
    const colon = entry.indexOf(":");
    const controllers = colon === -1 ? [] : entry.slice(0, colon).split(",");
    if (controllers.length > 0 && version === 2) {
      throw new RuntError("cgroup", `--cgroup ${entry}: cgroup v2 has one hierarchy, leave the controllers out`);
    }
    const sub = subPath(entry.slice(colon + 1));
    for (const controller of controllers) {
      if (!paths.some((path) => hierarchyOf(path).controllers.includes(controller))) {
        throw new RuntError("cgroup", `unknown controller ${controller} in --cgroup option`);
      }
    }
    for (const [index, path] of paths.entries()) {
      if (controllers.length === 0 || controllers.some((name) => hierarchyOf(path).controllers.includes(name))) {
        directories[index] = path + sub;
      }
    }
  }
  return directories;
}

/** "" or "/a/b"; `..` may not lead out of the container's cgroup. */
function subPath(text: string): string {
  const parts: string[] = [];
  for (const part of text.split("/")) {
    if (part === "..") {
      if (defenceDisabled("cgroup-path")) parts.push(part);
      else if (parts.pop() === undefined) throw new RuntError("cgroup", `bad sub cgroup path: ${text}`);
    } else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.map((part) => `/${part}`).join("");
}
