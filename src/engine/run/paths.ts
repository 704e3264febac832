/** Paths below the engine's state directory. */
import { join } from "node:path";

export class Paths {
  /** @param sockets directory of whoever serves the engine, if it has one */
  constructor(
    readonly stateDir: string,
    readonly sockets?: string,
  ) {}

  /** Nothing in them is a volume that somebody else may name. */
  get own(): readonly string[] {
    return [this.stateDir, ...(this.sockets === undefined ? [] : [this.sockets])];
  }

  get executors(): string {
    return join(this.stateDir, "executors");
  }

  /** In memory: of containers whose environment has secrets. */
  get executorsInMemory(): string {
    return join(this.stateDir, "executors-in-memory");
  }

  /** Root file systems of the program that holds shared namespaces. */
  get pause(): string {
    return join(this.stateDir, "pause");
  }

  get cards(): string {
    return join(this.stateDir, "tasks");
  }

  /** What a task was asked for (cards.ts). */
  card(taskId: string): string {
    return join(this.cards, `${taskId}.json`);
  }

  /** What is kept of networks. */
  get network(): string {
    return join(this.stateDir, "network");
  }

  /** Pulled images, and root file systems that are made of them. */
  get images(): string {
    return join(this.stateDir, "images");
  }

  /** Of all of a task's containers, through all their incarnations. */
  logs(taskId: string): string {
    return join(this.stateDir, "logs", taskId);
  }

  /** Each incarnation has a log of its own: the last part of its id is the generation. Rotated files have a dot and a number behind it. */
  log(taskId: string, runtimeId: string): string {
    return join(this.logs(taskId), `${runtimeId}.log`);
  }

  /** Of all of a task's containers: what they are told about themselves. */
  metadataOf(taskId: string): string {
    return join(this.stateDir, "metadata", taskId);
  }

  metadata(taskId: string, runtimeId: string): string {
    return join(this.metadataOf(taskId), runtimeId);
  }

  volumes(taskId: string): string {
    return join(this.stateDir, "volumes", taskId);
  }

  /** A directory of a group that outlives its tasks. */
  kept(group: string, name: string): string {
    return join(this.stateDir, "kept", group, name);
  }

  /** Mounts in memory with secrets, one for each incarnation that has some. */
  get secrets(): string {
    return join(this.stateDir, "secrets");
  }

  volume(taskId: string, name: string): string {
    return join(this.volumes(taskId), name);
  }
}
