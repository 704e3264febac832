/** Makes, finds and removes what tasks with privateUsers need on the host. Every operation can be repeated after a crash at any point. */
import { existsSync, lstatSync, readdirSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type OciObject, Runtime } from "../../executor/index.ts";
import { isMountPoint, outputOf, unmount, unmountBelow, writeOwnFile } from "../../node/index.ts";
import { whileHeld } from "../network/index.ts";
import { makeOwnDirectory, removeOwnTree } from "../own/index.ts";
import { PAUSE_PROGRAM, type PauseRoot } from "../pause/index.ts";

export interface TaskUsersOptions {
  /**
   * Directory with a subdirectory for each task, named by its id. Everybody can enter it and its parents, because a process of a user namespace
   * opens its root file system there.
   */
  readonly directory: string;
  /** Directory with the layers of images. */
  readonly layers: string;
  /** Path of the runt executable. */
  readonly binary: string;
  readonly pause: PauseRoot;
}

export interface UsersPlacement extends UserMap {
  /** File to which the user namespace is bound. */
  readonly namespace: string;
  /** Path of the layers of images, whose files belong to users of the namespace. */
  readonly layers: string;
  /** Root file system of the pause program, at a path that users of the namespace can reach. */
  readonly pause: string;
}

export class TaskUsers {
  readonly #options: TaskUsersOptions;
  /** Calls of `make` in progress, by the id of the task. A network asks for the namespace at the same time as the containers. */
  readonly #making = new Map<string, Promise<void>>();

  constructor(options: TaskUsersOptions) {
    this.#options = options;
  }

  placement(id: string, map: UserMap): UsersPlacement {
    const directory = this.#of(id);
    return { ...map, namespace: join(directory, "namespace"), layers: mappedPath(directory), pause: join(directory, "pause") };
  }

  /** @throws Error: the kernel or a file system does not support it; the message has the reason */
  async make(id: string, map: UserMap): Promise<UsersPlacement> {
    const making = this.#making.get(id) ?? this.#make(id, map).finally(() => this.#making.delete(id));
    this.#making.set(id, making);
    await making;
    return this.placement(id, map);
  }

  /** Path of a root file system that `show` has bound. */
  root(id: string, runtimeId: string): string {
    return join(this.#of(id), "roots", runtimeId);
  }

  /** Binds a root file system to a path that the task's users can reach. May be repeated. @throws Error: the message of mount(8) */
  async show(id: string, runtimeId: string, rootfs: string): Promise<void> {
    const path = this.root(id, runtimeId);
    await unmount(path);
    for (const directory of [dirname(path), path]) makeOwnDirectory(directory, { mode: 0o711 });
    await outputOf("mount", ["--bind", rootfs, path]);
  }

  /** Undoes `show`. Succeeds if nothing is there. @throws Error: it is in use */
  async hide(id: string, runtimeId: string): Promise<void> {
    const path = this.root(id, runtimeId);
    await unmount(path);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) rmdirSync(path);
    else if (found !== undefined) unlinkSync(path);
  }

  /** Removes everything of a task. Succeeds if nothing is there. @throws Error: something is still mounted */
  async remove(id: string): Promise<void> {
    const directory = this.#of(id);
    if (lstatSync(directory, { throwIfNoEntry: false }) === undefined) return;
    await unmountBelow(directory);
    removeOwnTree(directory);
    if (readdirSync(this.#options.directory).length === 0) rmdirSync(this.#options.directory);
  }

  /** Removes everything that belongs to no known task. Returns the errors of what could not be removed. */
  async tidy(isKnown: (id: string) => boolean): Promise<readonly unknown[]> {
    const { directory } = this.#options;
    const strays = existsSync(directory) ? readdirSync(directory).filter((id) => !isKnown(id)) : [];
    const failures: unknown[] = [];
    // One after the other: each may run programs that unmount.
    for (const id of strays) await this.remove(id).catch((error: unknown) => failures.push(error));
    return failures;
  }

  async #make(id: string, map: UserMap): Promise<void> {
    const { namespace, layers, pause } = this.placement(id, map);
    if ([namespace, layers, pause].every(isMountPoint)) return;
    await this.remove(id);
    const directory = this.#of(id);
    makeOwnDirectory(this.#options.directory, { mode: 0o711, parents: 0o711 });
    // Only root and the users of the task can enter the directory.
    makeOwnDirectory(directory, { mode: 0o710, owner: { uid: 0, gid: map.first } });
    makeOwnDirectory(pause, { mode: 0o711 });
    writeOwnFile(namespace, "");
    try {
      const { binary, pause: program, layers: source } = this.#options;
      const pauseRoot = program.path();
      await pinUsers(namespace, map);
      await mountMapped({ ...map, directory, source }, { binary, pauseRoot });
      makeOwnDirectory(join(pauseRoot, "dev"), { mode: 0o755 });
      await outputOf("mount", ["--bind", pauseRoot, pause]);
    } catch (error) {
      await this.remove(id);
      throw new Error(`no users of its own can be made for the task: ${(error as Error).message}`, { cause: error });
    }
  }

  #of(id: string): string {
    return join(this.#options.directory, id);
  }
}

/**
 * Makes an id-mapped mount of a directory: files of the ids from 0 on seem to belong to the ids from `first` on. mount(8) can do this only from
 * util-linux 2.39 on, but the runtime can for a container. Therefore a container that runs nothing gets the mount below a directory that it shares
 * with the host, so that the mount propagates to the host.
 */
interface MappedMount extends UserMap {
  /** Absolute path of a directory that belongs only to this mount. */
  readonly directory: string;
  /** Absolute path of the directory to mount. */
  readonly source: string;
}

interface Maker {
  /** Path of the runt executable. */
  readonly binary: string;
  /** Root file system of the pause program. */
  readonly pauseRoot: string;
}

/** Path at which the directory is mounted. */
function mappedPath(directory: string): string {
  return join(directory, "shared", "mapped");
}

const ID = "mapped";
/** Path in the root file system of the container. */
const SHARED = "/shared";

/** The caller unmounts it (unmountBelow). @throws Error: the mount failed; the message has the reason */
async function mountMapped(mount: MappedMount, { binary, pauseRoot }: Maker): Promise<void> {
  const { directory } = mount;
  const [shared, bundle, root] = ["shared", "bundle", "root"].map((name) => join(directory, name)) as [string, string, string];
  for (const path of [shared, mappedPath(directory), bundle, root]) makeOwnDirectory(path, { mode: 0o700 });
  await outputOf("mount", ["--bind", shared, shared]);
  // Private first, so that the mount leaves the peer group of the mount it was copied from.
  for (const type of ["--make-private", "--make-shared"]) await outputOf("mount", [type, shared]);
  writeOwnFile(join(bundle, "config.json"), JSON.stringify(configOf(mount, { root, shared, pauseRoot })));
  const runtime = new Runtime({ root: join(directory, "runtime"), binary, cgroupManager: "disabled" });
  try {
    await runtime.create(ID, { bundle });
  } finally {
    // A failed create has left no container.
    if (existsSync(join(directory, "runtime", ID))) await runtime.delete(ID, { force: true });
    for (const path of [bundle, root, join(directory, "runtime")]) removeOwnTree(path);
  }
  if (!isMountPoint(mappedPath(directory))) throw new Error(`the id-mapped mount of ${mount.source} did not come to ${directory}`);
  // From now on mounts and unmounts below it propagate to no other mount.
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

// Makes a user namespace that needs no process, because it is bound to a file.

/** Ids from 0 on in the namespace are ids from `first` on of the host. */
interface UserMap {
  readonly first: number;
  readonly count: number;
}

const TIMEOUT_MS = 30_000;

/** @param file an empty file. @throws NetworkError: the message of unshare(1); the error of write(2), or of mount(8) */
async function pinUsers(file: string, { first, count }: UserMap): Promise<void> {
  await whileHeld(["unshare", "--user"], TIMEOUT_MS, async (pid) => {
    // The map must be written from outside, in one write, and cannot be changed afterwards.
    for (const name of ["uid_map", "gid_map"]) writeFileSync(`/proc/${pid}/${name}`, `0 ${first} ${count}\n`);
    await outputOf("mount", ["--bind", `/proc/${pid}/ns/user`, file]);
  });
}
