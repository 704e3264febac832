/** The host's side of a container in the machine of another one: a process that stands for it, in the pid namespace of the monitor. */
import { RuntError } from "../../errors/index.ts";
import type { Spec } from "../../spec/index.ts";
import type { SpecNamespace } from "../asked/pod.ts";
import { MONITOR_OF_THE_SANDBOX } from "../places.ts";
import { type AttachRequest, type JoinedRequest, SOCKET_VARIABLE, toEnvironment } from "../request.ts";
import type { MachineParts } from "./host.ts";
import { roomFor } from "./size.ts";

export interface NamespaceOwner {
  /** The id of a container that has joined. */
  readonly joined?: string;
}

/** The machine that a container joins: the monitor's process, and how large the machine is. */
export interface SandboxMachine {
  readonly pid: number;
  /** As /proc/PID/stat has it. */
  readonly startTime: string;
  readonly memoryMiB: number;
  /** Whose namespace this is in the machine: the first container's, that of one that has joined, or (undefined) none that is there. */
  readonly ownerOf: (type: string, path: string) => NamespaceOwner | undefined;
}

/** Of the process that stands for the container, and of those that `exec` adds. */
const MEMORY_BYTES = 64 * 1024 ** 2;
const PIDS = 64;

/** @throws RuntError not-supported: it may use more than the machine has */
export function joiningParts(spec: Spec, request: AttachRequest, { pid, startTime, memoryMiB }: SandboxMachine): MachineParts {
  const { id, terminal } = request;
  const room = roomFor(memoryMiB, spec.linux?.resources);
  if (room !== undefined) {
    const pointer = "/linux/resources/memory/limit";
    throw new RuntError("not-supported", `the machine of its sandbox has ${room} MiB for containers, and does not grow`, { pointer });
  }
  const networks: SpecNamespace[] = spec.linux?.namespaces?.filter(({ type }) => type === "network") ?? [];
  return {
    machine: { socket: MONITOR_OF_THE_SANDBOX, memoryMiB, joined: { pid, startTime } },
    role: "machine-join",
    environment: [
      ...toEnvironment({ what: "adoption", name: id, terminal, memoryMiB } satisfies JoinedRequest),
      `${SOCKET_VARIABLE}=${MONITOR_OF_THE_SANDBOX}`,
    ],
    making: ["machine-attach", request],
    leaving: { joined: { id, pid, startTime } },
    namespaces: [...networks, { type: "pid", path: `/proc/${pid}/ns/pid` }, ...["mount", "ipc", "uts"].map((type) => ({ type }))],
    resources: { memory: { limit: MEMORY_BYTES }, pids: { limit: PIDS } },
    devices: [],
  };
}
