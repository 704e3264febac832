/**
 * Makes an id-mapped mount of a directory: files of the ids from 0 on seem to belong to those from `first` on. mount(8) can do that from util-linux 2.39 on only, and the
 * runtime can do it for containers. So a container that runs nothing gets the mount below a directory that it shares with the host, and it propagates to there.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type OciObject, Runtime } from "../../executor/index.ts";
import { isMountPoint, outputOf, writeOwnFile } from "../../node/index.ts";
import { makeOwnDirectory, removeOwnTree } from "../own/index.ts";
import { PAUSE_PROGRAM } from "../pause/index.ts";
import type { UserMap } from "./namespace.ts";

export interface MappedMount extends UserMap {
  /** Absolute path of a directory of this mount's own. */
  readonly directory: string;
  /** Absolute path of the directory to mount. */
  readonly source: string;
}

export interface Maker {
  /** Path of the runt executable. */
  readonly binary: string;
  /** Root file system of the pause program. */
  readonly pauseRoot: string;
}

/** Where a directory is mounted. */
export function mappedPath(directory: string): string {
  return join(directory, "shared", "mapped");
}

const ID = "mapped";
/** Below the root of the container. */
const SHARED = "/shared";

/** The caller unmounts it (unmountBelow). @throws Error: it cannot be mounted so; the message has the reason */
export async function mountMapped(mount: MappedMount, { binary, pauseRoot }: Maker): Promise<void> {
  const { directory } = mount;
  const [shared, bundle, root] = ["shared", "bundle", "root"].map((name) => join(directory, name)) as [string, string, string];
  for (const path of [shared, mappedPath(directory), bundle, root]) makeOwnDirectory(path, { mode: 0o700 });
  await outputOf("mount", ["--bind", shared, shared]);
  // It is first cut off from whatever it was a copy of.
  for (const type of ["--make-private", "--make-shared"]) await outputOf("mount", [type, shared]);
  writeOwnFile(join(bundle, "config.json"), JSON.stringify(configOf(mount, { root, shared, pauseRoot })));
  const runtime = new Runtime({ root: join(directory, "runtime"), binary, cgroupManager: "disabled" });
  try {
    await runtime.create(ID, { bundle });
  } finally {
    // A failed create leaves nothing.
    if (existsSync(join(directory, "runtime", ID))) await runtime.delete(ID, { force: true });
    for (const path of [bundle, root, join(directory, "runtime")]) removeOwnTree(path);
  }
  if (!isMountPoint(mappedPath(directory))) throw new Error(`the id-mapped mount of ${mount.source} did not come to ${directory}`);
  // What is mounted or unmounted in it from now on is nobody else's.
  await outputOf("mount", ["--make-rprivate", shared]);
}

function configOf({ source, first, count }: MappedMount, places: { root: string; shared: string; pauseRoot: string }): OciObject {
  const ids = [{ containerID: 0, hostID: first, size: count }];
  return {
    ociVersion: "1.2.0",
    process: { args: [`/pause${PAUSE_PROGRAM}`], cwd: "/", user: { uid: 0, gid: 0 }, noNewPrivileges: true },
    root: { path: places.root },
    mounts: [
      { destination: "/pause", type: "bind", source: places.pauseRoot, options: ["bind", "ro"] },
      { destination: SHARED, type: "bind", source: places.shared, options: ["bind", "rshared"] },
      {
        destination: `${SHARED}/mapped`,
        type: "bind",
        source,
        options: ["bind", "idmap", "ro"],
        uidMappings: ids,
        gidMappings: ids,
      },
    ],
    linux: { namespaces: [{ type: "mount" }, { type: "pid" }], rootfsPropagation: "shared" },
  };
}
