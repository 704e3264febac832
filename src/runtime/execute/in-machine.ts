/** Verbs that are carried out in the machine, by the runt there. Loaded only for a container in one. */
import { RuntError, WORDS } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { fromEntries, machineMemory, monitorSocket, SOCKET_VARIABLE, toEnvironment } from "../machine/sides/index.ts";
import { printJson, type SpecResources } from "../spec/index.ts";
import { initState, type StateRecord } from "../state/index.ts";

/** This program's own file, also where its name leads elsewhere by now. */
const SELF = "/proc/self/exe";
/** How long a verb without an end of its own may take in a guest that is busy. */
const VERB_MS = 60_000;
const MIB = 1024n ** 2n;

/** A verb whose output goes where this process's goes. Returns its status, when it has ended. */
export function passOn(record: StateRecord, words: readonly string[]): number {
  const pid = host.spawnPeer(SELF, ["runt", "machine-join"], [], environment(record, words));
  return host.waitpid(pid, 0)?.status ?? 1;
}

/** @throws RuntError: what the machine cannot have, or what its runt has said */
export function updateInMachine(record: StateRecord, resources: SpecResources): void {
  const limit = resources.memory?.limit;
  const { memoryMiB, guestOwnMiB } = machineMemory(fromEntries(environmentOf(record)));
  const most = memoryMiB - guestOwnMiB;
  if (typeof limit === "bigint" && limit > BigInt(most) * MIB) {
    throw new RuntError("not-supported", `a limit of ${limit} bytes: this machine has ${most} MiB for its container, and does not grow`);
  }
  call(record, ["update", "--resources", "-", record.id], printJson(resources));
}

/** The freezer in the guest. False: there the container was so already, by a verb that was cut short on the host. */
export interface GuestFreezer {
  readonly pause: () => boolean;
  readonly resume: () => boolean;
}

/**
 * What pauses a container that has joined in the guest, where the rest of its machine goes on. undefined: the container has a machine of its own, which
 * stands still with its processes on the host.
 */
export function freezerOf(record: StateRecord): GuestFreezer | undefined {
  if (!hasJoined(record)) return undefined;
  const { id } = record;
  return {
    pause: () => call(record, ["pause", id], "", WORDS.alreadyPaused),
    resume: () => call(record, ["resume", id], "", WORDS.notPaused),
  };
}

/**
 * A signal for all processes of a container that has joined; those on the host have no other signal then. Returns whether it was sent there: a container
 * with a machine of its own hears it by the processes of its cgroup on the host. @throws RuntError
 */
export function signalAllInMachine(record: StateRecord, signal: number): boolean {
  if (!hasJoined(record) || !initState(record)) return false;
  call(record, ["kill", "--all", record.id, String(signal)]);
  return true;
}

/** It has no machine of its own: the environment of its process on the host says where the socket of the other one's monitor is. */
function hasJoined(record: StateRecord): boolean {
  return environmentOf(record).some((entry) => entry.startsWith(`${SOCKET_VARIABLE}=`));
}

/** False: it has failed with the words that are expected. @throws RuntError: what else the runt in the guest has said */
function call(record: StateRecord, words: readonly string[], input = "", expected?: string): boolean {
  const { status, stderr } = host.runProgram(SELF, ["runt", "machine-join"], environment(record, words), input, VERB_MS);
  if (status === 0) return true;
  if (expected !== undefined && stderr.includes(expected)) return false;
  throw new RuntError("cgroup", `in the machine: ${stderr.trim().replace(/^runt: /, "")}`);
}

/** @throws RuntError not-supported, always */
export function refuseInMachine(what: string): never {
  throw new RuntError("not-supported", `a container in a machine cannot have ${what}`);
}

/** The monitor's socket is in the jail, which is the root of the monitor; another path leads there from that of a process that has joined. @throws RuntError wrong-status: the monitor has ended */
function environment(record: StateRecord, words: readonly string[]): string[] {
  // The number may be another process's by now, which has a socket of its own at that path.
  if (!initState(record)) throw new RuntError("wrong-status", WORDS.notRunning);
  const opening = { what: "verb", words, terminal: false };
  return [...toEnvironment(opening), `${SOCKET_VARIABLE}=/proc/${record.pid}/root${monitorSocket(environmentOf(record))}`];
}

function environmentOf({ exec }: StateRecord): readonly string[] {
  return (exec.process?.["env"] as readonly string[] | undefined) ?? [];
}
