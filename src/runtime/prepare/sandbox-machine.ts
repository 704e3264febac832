/** The machine that a container joins: that of the process whose namespaces its configuration names. */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { fromEntries, type MonitorRequest, podPart, type SandboxMachine } from "../machine/sides/index.ts";
import type { Spec } from "../spec/index.ts";

/** How engines name the namespaces of a container: by its process. */
const OF_A_PROCESS = /^\/proc\/(\d+)\/ns\/\w+$/;

/** undefined: it has a machine of its own. @throws RuntError: the sandbox of its pod has none */
export function sandboxMachine({ annotations, linux }: Spec): SandboxMachine | undefined {
  for (const { path } of linux?.namespaces ?? []) {
    const pid = Number(OF_A_PROCESS.exec(path ?? "")?.[1] ?? 0);
    const found = pid === 0 ? undefined : machineOf(pid);
    if (found) return found;
  }
  const pod = podPart(annotations);
  if (pod === undefined || pod.isSandbox) return undefined;
  const named = pod.sandbox === undefined ? "" : ` ${pod.sandbox}`;
  throw new RuntError("not-supported", `its sandbox${named} has no machine that runs, whose namespaces this configuration names`, {
    pointer: "/linux/namespaces",
  });
}

/** undefined: the process is no monitor, or has ended. */
function machineOf(pid: number): SandboxMachine | undefined {
  try {
    const [, role] = host.readFile(`/proc/${pid}/cmdline`, undefined, true).split("\0");
    const startTime = host.procStat(pid)?.startTime;
    if (role !== "machine-monitor" || startTime === undefined) return undefined;
    const environment = host.readFile(`/proc/${pid}/environ`, undefined, true).split("\0");
    const { memoryMiB } = fromEntries(environment) as MonitorRequest;
    return { pid, startTime: String(startTime), memoryMiB, has: (type, path) => isOf(pid, type, path) };
  } catch (error) {
    if (error instanceof SyntaxError || host.isErrno(error, "ENOENT", "ESRCH", "EACCES", "EPERM")) return undefined;
    throw error;
  }
}

const FILES: Readonly<Record<string, string>> = { network: "net", mount: "mnt" };

function isOf(pid: number, type: string, path: string): boolean {
  const [own, other] = [host.stat(`/proc/${pid}/ns/${FILES[type] ?? type}`), host.stat(path)];
  return own !== undefined && own.ino === other?.ino && own.dev === other.dev;
}
