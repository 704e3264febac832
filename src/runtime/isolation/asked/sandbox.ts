/** The machine that a container joins: that of the process whose namespaces its configuration names, or of the sandbox that its annotations name. */
import { NAMESPACE_FILES } from "../../../shared/linux/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import type { Spec } from "../../spec/index.ts";
import { initState, readSummary } from "../../state/index.ts";
import type { NamespaceOwner, SandboxMachine } from "../configurations/parts.ts";
import { fromEntries, type JoinedRequest, type MonitorRequest } from "../request.ts";
import { podPart } from "./pod.ts";

/** How containerd and Podman name the namespaces of a container: by its process. CRI-O has files that they are bound to. */
const OF_A_PROCESS = /^\/proc\/(\d+)\/ns\/\w+$/;

/** undefined: it has a machine of its own. `root`: where the sandbox's state is. @throws RuntError: the sandbox of its pod has none */
export function sandboxMachine({ annotations, linux }: Spec, root: string): SandboxMachine | undefined {
  for (const { path } of linux?.namespaces ?? []) {
    const pid = pidOf(path);
    const found = pid === 0 ? undefined : machineOf(pid);
    if (found) return found;
  }
  const pod = podPart(annotations);
  if (pod === undefined || pod.isSandbox) return undefined;
  const machine = pod.sandbox === undefined ? undefined : machineOfContainer(root, pod.sandbox);
  if (machine) return machine;
  const named = pod.sandbox === undefined ? "" : ` ${pod.sandbox}`;
  throw new RuntError("not-supported", `its sandbox${named} has no machine that runs, whose namespaces this configuration names`, {
    pointer: "/linux/namespaces",
  });
}

/** The files of a sandbox's namespaces may be bound to those of the host. @throws RuntError not-supported */
export function refuseHostNamespaces({ linux }: Spec): void {
  for (const [index, { type, path }] of (linux?.namespaces ?? []).entries()) {
    if (!path || type === "network" || !isSame(`/proc/self/ns/${FILES[type] ?? type}`, path)) continue;
    const pointer = `/linux/namespaces/${index}/path`;
    throw new RuntError("not-supported", `a container in a machine cannot have the ${type} namespace of the host`, { pointer });
  }
}

/** undefined: there is no such container, or it is in no machine of its own that runs. */
function machineOfContainer(root: string, id: string): SandboxMachine | undefined {
  try {
    const record = readSummary(root, id);
    return initState(record) ? machineOf(record.pid) : undefined;
  } catch (error) {
    if (error instanceof RuntError) return undefined;
    throw error;
  }
}

/** undefined: the process is no monitor, or has ended. */
function machineOf(pid: number): SandboxMachine | undefined {
  const startTime = host.procStat(pid)?.startTime;
  const request = startTime === undefined ? undefined : requestOf<MonitorRequest>(pid, "machine-monitor");
  if (request === undefined) return undefined;
  const ownerOf = (type: string, path: string): NamespaceOwner | undefined => {
    if (!isSame(`/proc/${pid}/ns/${FILES[type] ?? type}`, path)) return undefined;
    // A process of the machine's on the host has the monitor's namespace; in the guest its container has its own.
    const other = pidOf(path);
    const joined = other === pid || other === 0 ? undefined : requestOf<JoinedRequest>(other, "machine-join")?.name;
    return joined === undefined ? {} : { joined };
  };
  return { pid, startTime: String(startTime), memoryMiB: request.memoryMiB, ownerOf };
}

/** What a container's first process in a machine was told; undefined: it does something else, or has ended. */
export function requestOf<T>(pid: number, role: string): T | undefined {
  try {
    const read = (name: string): string[] => host.readFile(`/proc/${pid}/${name}`, undefined, true).split("\0");
    return read("cmdline")[1] === role ? (fromEntries(read("environ")) as T) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || host.isErrno(error, "ENOENT", "ESRCH", "EACCES", "EPERM")) return undefined;
    throw error;
  }
}

const FILES: Readonly<Record<string, string>> = NAMESPACE_FILES;

function isSame(one: string, other: string): boolean {
  const [own, found] = [host.stat(one), host.stat(other)];
  return own !== undefined && own.ino === found?.ino && own.dev === found.dev;
}

/** 0: it is not the namespace of a process. */
function pidOf(path: string | null | undefined): number {
  return Number(OF_A_PROCESS.exec(path ?? "")?.[1] ?? 0);
}
