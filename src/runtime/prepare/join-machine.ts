/** A further process of a container in a machine. Loaded only for one. */
import type { ProcessConfig } from "../config/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { JAIL, toEnvironment } from "../machine/sides/index.ts";
import type { ExecRequest } from "./exec-request.ts";

const PATH = "PATH=/usr/bin:/bin";

/** The process on the host that stands for one in the machine: the guest's own `exec` has the last word about what it is to be. */
export function joiningProcess(request: ExecRequest, monitor: ProcessConfig): ProcessConfig {
  const { args, id, processFile } = request;
  const document = processFile === undefined ? undefined : readDocument(processFile);
  const terminal = request.terminal || (document !== undefined && wantsTerminal(document));
  const opening = { what: "exec", id, flags: guestFlags(request), args, terminal, ...(document !== undefined && { process: document }) };
  return { ...monitor, terminal, args: [JAIL.runt, "machine-join"], env: [PATH, ...toEnvironment(opening)], cwd: "/" };
}

/** What is wrong with the document the guest's exec says. */
function wantsTerminal(document: string): boolean {
  try {
    return (JSON.parse(document) as { readonly terminal?: unknown } | null)?.terminal === true;
  } catch {
    return false;
  }
}

function readDocument(path: string): string {
  try {
    // Shells hand over a pipe (/dev/fd/N).
    return host.readFile(path, undefined, true);
  } catch (error) {
    throw new RuntError("config-read", `open ${path}: ${host.reason(error)}`, { cause: error });
  }
}

/** What was asked of exec, for exec in the guest. */
function guestFlags(request: ExecRequest): string[] {
  const { additionalGids, apparmorProfile, capabilities, cgroups, cwd, env, noNewPrivileges, preserveFds, selinuxLabel, terminal, user } =
    request;
  if (preserveFds > 0) throw new RuntError("not-supported", "--preserve-fds: descriptors of the host do not reach a machine");
  if (apparmorProfile || selinuxLabel) throw new RuntError("not-supported", "the guest's kernel has no security labels");
  const each = (flag: string, values: readonly string[]): string[] => values.flatMap((value) => [flag, value]);
  return [
    ...each("--env", env),
    ...each("--additional-gids", additionalGids),
    ...each("--cap", capabilities),
    ...each("--cgroup", cgroups),
    ...each("--cwd", cwd === undefined ? [] : [cwd]),
    ...each("--user", user === undefined ? [] : [user]),
    ...(noNewPrivileges ? ["--no-new-privs"] : []),
    ...(terminal ? ["--tty"] : []),
  ];
}
