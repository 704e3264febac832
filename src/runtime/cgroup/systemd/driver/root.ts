/** The manager's own cgroup, without asking the manager. */
import * as host from "../../../host/index.ts";
import type { Peer } from "./stream.ts";

const OWN_SCOPE = "/init.scope";

/** undefined: it has to be asked, after it has taken the authentication. */
export function rootOf({ pid, uid }: Peer): string | undefined {
  // A manager takes its own user. Whether another's does is to be known before a container is begun.
  if (pid <= 0 || uid !== host.geteuid()) return undefined;
  try {
    // Both see a path from the root of their own cgroup namespace.
    if (host.readlink(`/proc/${pid}/ns/cgroup`) !== host.readlink("/proc/self/ns/cgroup")) return undefined;
    return parseRoot(host.readFile(`/proc/${pid}/cgroup`, undefined, true));
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "EACCES", "EPERM", "ESRCH")) return undefined;
    throw error;
  }
}

/**
 * From the text of /proc/PID/cgroup: systemd puts itself into init.scope below its own cgroup, in the hierarchies that it follows processes in.
 * undefined where it is in none, or in two that differ.
 */
export function parseRoot(text: string): string | undefined {
  const roots = new Set<string>();
  for (const line of text.split("\n")) {
    const [, path = ""] = /^(?:\d+:name=systemd|0:):(.*)$/.exec(line) ?? [];
    if (path.endsWith(OWN_SCOPE)) roots.add(path.slice(0, -OWN_SCOPE.length));
  }
  return roots.size === 1 ? [...roots][0] : undefined;
}
