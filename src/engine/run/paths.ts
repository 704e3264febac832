/** Paths below the engine's state directory. */
import { join } from "node:path";

export class Paths {
  /** @param sockets directory of the server's sockets, if the engine has a server */
  constructor(
    readonly stateDir: string,
    readonly sockets?: string,
  ) {}

  /** Directories of the engine. A task must not use anything below them as a volume. */
  get own(): readonly string[] {
    return [this.stateDir, ...(this.sockets === undefined ? [] : [this.sockets])];
  }

  get executors(): string {
    return join(this.stateDir, "executors");
  }

  /** Mount point of a tmpfs for containers that have secrets in their environment. */
  get executorsInMemory(): string {
    return join(this.stateDir, "executors-in-memory");
  }

  /** Root file systems for the pause program, which holds shared namespaces. */
  get pause(): string {
    return join(this.stateDir, "pause");
  }

  get specCopies(): string {
    return join(this.stateDir, "tasks");
  }

  /** The file with the spec of a task (spec-copies.ts). */
  specCopy(taskId: string): string {
    return join(this.specCopies, `${taskId}.json`);
  }

  get pools(): string {
    return join(this.stateDir, "pools");
  }

  /** Mount points of the root file systems of pools, if the engine has no directory for users. */
  get poolRoots(): string {
    return join(this.stateDir, "pool-roots");
  }

  /** What the library keeps of a pool (executor/pool): its containers are the executors in "boxes". */
  pool(id: string): string {
    return join(this.pools, id);
  }

  /** State of the networks. */
  get network(): string {
    return join(this.stateDir, "network");
  }

  /** Pulled images, and the root file systems made from them. */
  get images(): string {
    return join(this.stateDir, "images");
  }

  /** Layers of the builder of images, and what it has of a build. */
  get builder(): string {
    return join(this.stateDir, "builder");
  }

  /** Logs of all containers of a task, of all incarnations. */
  logs(taskId: string): string {
    return join(this.stateDir, "logs", taskId);
  }

  /** The log of one incarnation; the runtime id ends with its generation. A rotated file has a dot and a number appended. */
  log(taskId: string, runtimeId: string): string {
    return join(this.logs(taskId), `${runtimeId}.log`);
  }

  /** The metadata files of all containers of a task. */
  metadataOf(taskId: string): string {
    return join(this.stateDir, "metadata", taskId);
  }

  metadata(taskId: string, runtimeId: string): string {
    return join(this.metadataOf(taskId), runtimeId);
  }

  /** Files for /etc of the containers of a task. */
  etc(taskId: string): string {
    return join(this.stateDir, "etc", taskId);
  }

  resolv(taskId: string): string {
    return join(this.etc(taskId), "resolv.conf");
  }

  /** Of all of a task's containers: what they say of their end. */
  endMessages(taskId: string): string {
    return join(this.stateDir, "end-messages", taskId);
  }

  endMessage(taskId: string, runtimeId: string): string {
    return join(this.endMessages(taskId), runtimeId);
  }

  /** Configurations of the log router of a task, one for each of its incarnations. */
  logRouters(taskId: string): string {
    return join(this.stateDir, "log-routers", taskId);
  }

  logRouter(taskId: string, runtimeId: string): string {
    return join(this.logRouters(taskId), runtimeId);
  }

  /** For the admin socket of a shared proxy, whatever its task is. */
  sharedProxy(group: string, name: string): string {
    return join(this.stateDir, "shared-proxies", group, name);
  }

  /** Where the directory of a forgotten proxy goes before it is removed. */
  removedProxy(taskId: string): string {
    return join(this.stateDir, "removed-proxies", taskId);
  }

  /** User namespaces of tasks, and what belongs to their users. */
  get users(): string {
    return join(this.stateDir, "users");
  }

  volumes(taskId: string): string {
    return join(this.stateDir, "volumes", taskId);
  }

  /** The directories that outlive tasks: of a group, or those of all groups. */
  keptOf(group = ""): string {
    return join(this.stateDir, "kept", group);
  }

  /** A directory that belongs to a group and outlives its tasks. */
  kept(group: string, name: string): string {
    return join(this.keptOf(group), name);
  }

  /** For the copy of what an image has for a kept volume, until it is complete. */
  filling(group: string, name: string): string {
    return join(this.stateDir, "filling", group, name);
  }

  /** The same for a scratch directory of a task. No volume has such a name. */
  fillingOf(taskId: string, name: string): string {
    return join(this.volumes(taskId), `.filling-${name}`);
  }

  get removedVolumes(): string {
    return join(this.stateDir, "removed-volumes");
  }

  /** Where a kept volume goes before it is removed. @param of id of the task with which it goes */
  removedVolume(of: string, name: string): string {
    return join(this.removedVolumes, of, name);
  }

  /** Mount points of tmpfs with secrets, one for each incarnation that has secrets. */
  get secrets(): string {
    return join(this.stateDir, "secrets");
  }

  volume(taskId: string, name: string): string {
    return join(this.volumes(taskId), name);
  }
}
