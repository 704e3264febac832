/** resolv.conf of tasks that say which name servers they use, and for which the engine makes no network. */
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { TaskRecord } from "../../model/index.ts";
import { makeOwnDirectory, overwriteOwnFile } from "../../own/index.ts";
import { resolvText } from "../../plan/index.ts";
import { namespacesOf } from "../../spec/index.ts";
import type { Paths } from "../paths.ts";
import { type Contribution, removeTaskDirectory, type TaskResource } from "./resource.ts";

const HOST_RESOLV = "/etc/resolv.conf";

export class NameServers implements TaskResource {
  readonly name = "name-servers";
  readonly #paths: Paths;

  constructor(paths: Paths) {
    this.#paths = paths;
  }

  /** The file is written in place, so that running containers of the task see what has changed on the host. @throws the errors of the system calls */
  prepare({ id, spec }: TaskRecord): void {
    if (spec.dns === undefined) return;
    const path = this.#paths.resolv(id);
    const ofHost = existsSync(HOST_RESOLV) ? readFileSync(HOST_RESOLV, "utf8") : "";
    makeOwnDirectory(dirname(path), { mode: 0o755, parents: 0o755 });
    // Every user of a container must be able to read it, whatever the umask of this process.
    overwriteOwnFile(path, resolvText(spec.dns, ofHost, namespacesOf(spec).network === "host"), 0o644);
  }

  contribute({ id, spec }: TaskRecord): Contribution {
    return spec.dns === undefined ? {} : { resolv: this.#paths.resolv(id) };
  }

  async forget(task: string): Promise<void> {
    await removeTaskDirectory(this.#paths.etc(task));
  }
}
