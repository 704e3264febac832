/** Where the engine keeps what, below its state directory. */
import { join } from "node:path";

export class Paths {
  constructor(readonly stateDir: string) {}

  get executors(): string {
    return join(this.stateDir, "executors");
  }

  /** Root file systems of the program that holds shared namespaces. */
  get pause(): string {
    return join(this.stateDir, "pause");
  }

  /** Of all of a task's containers, through all their incarnations. */
  logs(taskId: string): string {
    return join(this.stateDir, "logs", taskId);
  }

  /** @param runtimeId of any incarnation: the last part, the generation, is not part of the name. */
  log(taskId: string, runtimeId: string): string {
    return join(this.logs(taskId), `${runtimeId.slice(0, runtimeId.lastIndexOf("."))}.log`);
  }

  volumes(taskId: string): string {
    return join(this.stateDir, "volumes", taskId);
  }

  volume(taskId: string, name: string): string {
    return join(this.volumes(taskId), name);
  }
}
