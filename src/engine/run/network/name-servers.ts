/** resolv.conf of tasks that say which name servers they use, and for which the engine makes no network. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { TaskRecord } from "../../model/index.ts";
import { resolvText } from "../../plan/index.ts";
import { namespacesOf } from "../../spec/index.ts";
import type { Paths } from "../paths.ts";

const HOST_RESOLV = "/etc/resolv.conf";

/** Writes the file before a container is created. It is written in place, so that running containers of the task see what has changed on the host. @throws the errors of the system calls */
export function writeResolv({ id, spec }: TaskRecord, paths: Paths): void {
  if (spec.dns === undefined) return;
  const path = paths.resolv(id);
  const ofHost = existsSync(HOST_RESOLV) ? readFileSync(HOST_RESOLV, "utf8") : "";
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  writeFileSync(path, resolvText(spec.dns, ofHost, namespacesOf(spec).network === "host"));
  // Every user of a container must be able to read it, whatever the umask of this process.
  chmodSync(path, 0o644);
}
