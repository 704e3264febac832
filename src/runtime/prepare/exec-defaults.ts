/** What exec takes over from the container that it enters, by the state record. */
import { type NamespaceType, type ProcessConfig, restoreProcess } from "../config/index.ts";
import type { ExecRecord } from "../state/index.ts";

/** The settings of the container's own process; plain ones for a container that was made without a process. */
export function defaultProcess({ process }: ExecRecord): ProcessConfig {
  if (process) return restoreProcess(process);
  return {
    terminal: false,
    consoleRows: 0,
    consoleColumns: 0,
    args: [],
    env: [],
    cwd: "/",
    uid: 0,
    gid: 0,
    additionalGids: [],
    umask: 0o022,
    noNewPrivileges: false,
    rlimits: [],
  };
}

export function namespaceTypes({ namespaces }: ExecRecord): readonly NamespaceType[] {
  return namespaces as readonly NamespaceType[];
}
