/** A further process of a container in a machine. */
import type { ProcessConfig } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import type { MachineRecord } from "../../state/index.ts";
import { shellConfig } from "../configurations/shell.ts";
import { JAIL } from "../places.ts";
import { type AdoptionRequest, type BeginRequest, type ShellRequest, SOCKET_VARIABLE, toEnvironment } from "../request.ts";
import type { IsolatedRecord, ProcessRequest } from "./types.ts";

const PATH = "PATH=/usr/bin:/bin";
const SELF = "/proc/self/exe";
/** In a guest that is busy. */
const BEGIN_SECONDS = 60;

/**
 * The process on the host that stands for one in the machine, which has begun when this returns. The guest's own `exec` has the last word about what it
 * is to be. `own`: the container's first process on the host.
 */
export function joiningProcess(
  request: ProcessRequest,
  own: ProcessConfig,
  { pid, startTime }: IsolatedRecord,
  { joined, socket }: MachineRecord,
): ProcessConfig {
  const { args, id, processFile, shell } = request;
  if (shell !== undefined) return shellProcess(request, shell, own, joined ?? { pid, startTime }, socket);
  const document = processFile === undefined ? undefined : readDocument(processFile);
  const terminal = request.terminal || (document !== undefined && wantsTerminal(document));
  const opening = {
    what: "exec" as const,
    id,
    flags: guestFlags(request),
    args,
    terminal,
    ...(document !== undefined && { process: document }),
  };
  const adoption: AdoptionRequest = { what: "adoption", name: `exec ${host.getpid()} ${host.monotonic()}`, terminal };
  begin("machine-begin", { opening, name: adoption.name, seconds: BEGIN_SECONDS }, `/proc/${pid}/root${socket}`);
  return standing(own, adoption, socket);
}

/** The same for a shell of the guest. `monitor`: of the machine. `socket`: in the root of the container's first process. */
function shellProcess(
  { args, terminal }: ProcessRequest,
  program: string,
  own: ProcessConfig,
  monitor: Pick<ShellRequest, "pid" | "startTime">,
  socket: string,
): ProcessConfig {
  const id = `shell-${host.getpid()}-${Math.trunc(host.monotonic())}`;
  const adoption: AdoptionRequest = { what: "adoption", name: `shell ${id}`, terminal };
  const config = shellConfig({ id, args, terminal, term: host.getenv("TERM") });
  const { pid, startTime } = monitor;
  const request: ShellRequest = { name: adoption.name, id, config, terminal, program, pid, startTime, seconds: BEGIN_SECONDS };
  begin("machine-shell", request, "");
  return standing(own, adoption, socket);
}

/** The process on the host that goes on with what has begun. */
function standing(own: ProcessConfig, adoption: AdoptionRequest, socket: string): ProcessConfig {
  const env = [PATH, `${SOCKET_VARIABLE}=${socket}`, ...toEnvironment(adoption)];
  return { ...own, terminal: adoption.terminal, args: [JAIL.runt, "machine-join"], env, cwd: "/" };
}

/** @throws RuntError: the guest's runt says why it cannot be */
function begin(role: "machine-begin" | "machine-shell", request: BeginRequest | ShellRequest, socket: string): void {
  const env = [...toEnvironment(request), `${SOCKET_VARIABLE}=${socket}`];
  const { status, stderr } = host.runProgram(SELF, ["runt", role], env, "", 2000 * BEGIN_SECONDS);
  if (status !== 0) throw new RuntError("operation", stderr.replace(/^(?:runt: )?(?:exec failed: )?/, "").trim());
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

/** What was asked of exec, for exec in the guest. `--cgroup` names one of the host, which is that of the process here. */
function guestFlags(request: ProcessRequest): string[] {
  const { additionalGids, apparmorProfile, capabilities, cwd, env, noNewPrivileges, preserveFds, selinuxLabel, terminal, user } = request;
  if (preserveFds > 0) throw new RuntError("not-supported", "--preserve-fds: descriptors of the host do not reach a machine");
  if (apparmorProfile || selinuxLabel) throw new RuntError("not-supported", "the guest's kernel has no security labels");
  const each = (flag: string, values: readonly string[]): string[] => values.flatMap((value) => [flag, value]);
  return [
    ...each("--env", env),
    ...each("--additional-gids", additionalGids),
    ...each("--cap", capabilities),
    ...each("--cwd", cwd === undefined ? [] : [cwd]),
    ...each("--user", user === undefined ? [] : [user]),
    ...(noNewPrivileges ? ["--no-new-privs"] : []),
    ...(terminal ? ["--tty"] : []),
  ];
}
