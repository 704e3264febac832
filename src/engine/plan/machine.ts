/**
 * Annotations and mounts of containers in a virtual machine. The annotations are those of Kubernetes engines: they tell the runtime which
 * containers share one machine (docs/vm.md). Pure.
 */
import type { Mount } from "../../executor/index.ts";
import type { TaskSpec } from "../spec/index.ts";

const PREFIX = "io.kubernetes.cri.";
const KEY = { type: `${PREFIX}container-type`, sandbox: `${PREFIX}sandbox-id` } as const;
const SIZE = { memory: `${PREFIX}sandbox-memory`, quota: `${PREFIX}sandbox-cpu-quota`, period: `${PREFIX}sandbox-cpu-period` } as const;

/** In microseconds. */
const CPU_PERIOD = 100_000;
/**
 * Memory that is counted for a container without a limit and a reservation. A machine of the default size has this much for containers
 * (docs/vm.md).
 */
const UNSAID_BYTES = 160 * 1024 ** 2;

type Annotations = Readonly<Record<string, string>>;

/** For the pause container, which boots the machine. @param id its runtime id */
export function sandboxAnnotations(task: TaskSpec, id: string): Annotations {
  const memory = memoryOf(task);
  const cpus = cpusOf(task);
  return {
    [KEY.type]: "sandbox",
    [KEY.sandbox]: id,
    ...(memory === undefined ? {} : { [SIZE.memory]: String(memory) }),
    ...(cpus === undefined ? {} : { [SIZE.quota]: String(Math.round(cpus * CPU_PERIOD)), [SIZE.period]: String(CPU_PERIOD) }),
  };
}

/** For a container that joins the machine. @param pause runtime id of the pause container */
export function memberAnnotations(pause: string): Annotations {
  return { [KEY.type]: "container", [KEY.sandbox]: pause };
}

/** Path of the program that makes connections in the machine. It is in /dev of the container, which is a file system of its own. */
export const RELAY_PROGRAM = "/dev/runt-pause";

/** @param source path of the program, if the container is in a machine */
export function relayMounts(source: string | undefined): Mount[] {
  if (source === undefined) return [];
  return [{ destination: RELAY_PROGRAM, source, type: "bind", options: ["bind", "rprivate", "nosuid", "nodev", "src-nofollow", "ro"] }];
}

/** In bytes; undefined: neither the task nor a container says anything, and the operator's size of a machine is used. */
function memoryOf({ memory, containers }: TaskSpec): number | undefined {
  if (memory !== undefined) return memory;
  const said = containers.map((one) => one.memory ?? one.memoryReservation);
  if (said.every((bytes) => bytes === undefined)) return undefined;
  return said.reduce((sum: number, bytes) => sum + (bytes ?? UNSAID_BYTES), 0);
}

/** A container without a limit adds nothing: it uses what the others leave. */
function cpusOf({ cpus, containers }: TaskSpec): number | undefined {
  const said = containers.flatMap((one) => one.cpus ?? []);
  return cpus ?? (said.length === 0 ? undefined : said.reduce((sum, one) => sum + one, 0));
}
