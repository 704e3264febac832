/**
 * A container in a machine: the runt there carries out what concerns its processes. One with a machine of its own is on the host the cgroup of that
 * machine, which is signalled and frozen as a whole. One that has joined another's machine is signalled and frozen in the guest, where the rest goes on.
 */
import { RuntError, WORDS } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { printJson } from "../../spec/index.ts";
import { initState, listIds, type MachineRecord, readRecord, type StateRecord } from "../../state/index.ts";
import { guestRoom } from "../configurations/size.ts";
import { type ConsoleRequest, SOCKET_VARIABLE, toEnvironment } from "../request.ts";
import { joiningProcess } from "./further-process.ts";
import { HOST } from "./host.ts";
import type { IsolatedRecord, Isolation, Stage, UpdateRequest } from "./types.ts";

/** This program's own file, also where its name leads elsewhere by now. */
const SELF = "/proc/self/exe";
/** How long a verb without an end of its own may take in a guest that is busy. */
const VERB_MS = 60_000;
const MIB = 1024n ** 2n;

export function machineIsolation(record: IsolatedRecord, machine: MachineRecord): Isolation {
  const isolation: Isolation = {
    ...HOST,
    update: (_record, _owner, request, stage) => update(record, machine, request, stage),
    passOn(words) {
      const pid = host.spawnPeer(SELF, ["runt", "machine-join"], [], environment(record, machine, words));
      return host.waitpid(pid, 0)?.status ?? 1;
    },
    furtherProcess: (request, own) => joiningProcess(request, own(), record, machine),
    requireHost: refuse,
    dependents: (root) => joinedTo(root, record),
  };
  return machine.joined ? { ...isolation, ...ofItsOwn(record, machine), dependents: HOST.dependents } : isolation;
}

/** What happens to a container alone, and not to its machine. */
function ofItsOwn(record: IsolatedRecord, machine: MachineRecord): Pick<Isolation, "signalAll" | "freeze" | "thaw"> {
  const { id } = record;
  /** False: it was so already, by a verb that was cut short on the host. */
  const pause = (): boolean => call(record, machine, ["pause", id], "", WORDS.alreadyPaused);
  const resume = (): boolean => call(record, machine, ["resume", id], "", WORDS.notPaused);
  return {
    // The process on the host that stands for it has no other signal.
    signalAll(cgroup, owner, signal) {
      if (!initState(record)) return HOST.signalAll(cgroup, owner, signal);
      call(record, machine, ["kill", "--all", id, String(signal)]);
      return { stuck: [], others: [], unseen: 0 };
    },
    freeze(cgroup, owner) {
      pause();
      try {
        HOST.freeze(cgroup, owner);
      } catch (error) {
        attempt(resume);
        throw error;
      }
    },
    // A pause that was killed half way has paused it in the guest only.
    thaw(cgroup, owner, isFrozen) {
      const wasPaused = resume();
      return HOST.thaw(cgroup, owner, isFrozen) || wasPaused;
    },
  };
}

/** So that the container goes on as before. What cannot be undone is left to a later resume, which looks in both places. */
function attempt(undo: () => void): void {
  try {
    undo();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}

function update(record: IsolatedRecord, machine: MachineRecord, { resources, schemata }: UpdateRequest, stage: Stage): void {
  if (schemata.length > 0) refuse("resource control");
  const limit = resources.memory?.limit;
  const { memoryMiB } = machine;
  const most = memoryMiB === undefined ? undefined : guestRoom(memoryMiB);
  if (most !== undefined && typeof limit === "bigint" && limit > BigInt(most) * MIB) {
    throw new RuntError("not-supported", `a limit of ${limit} bytes: this machine has ${most} MiB for its container, and does not grow`);
  }
  call(record, machine, ["update", "--resources", "-", record.id], printJson(resources));
  stage([])();
}

/** @throws RuntError not-supported, always */
function refuse(what: string): never {
  throw new RuntError("not-supported", `a container in a machine cannot have ${what}`);
}

/** Containers that have joined the machine of this one. */
function joinedTo(root: string, { pid, startTime }: IsolatedRecord): readonly StateRecord[] {
  return listIds(root).flatMap((id) => {
    const record = recordOf(root, id);
    const joined = record?.machine?.joined;
    return record !== undefined && joined?.pid === pid && joined.startTime === startTime ? [record] : [];
  });
}

/** undefined: it has just been removed, or is being made. */
function recordOf(root: string, id: string): StateRecord | undefined {
  try {
    return readRecord(root, id);
  } catch (error) {
    if (error instanceof RuntError) return undefined;
    throw error;
  }
}

/** False: it has failed with the words that are expected. @throws RuntError: what else the runt in the guest has said */
function call(record: IsolatedRecord, machine: MachineRecord, words: readonly string[], input = "", expected?: string): boolean {
  const { status, stderr } = host.runProgram(SELF, ["runt", "machine-join"], environment(record, machine, words), input, VERB_MS);
  if (status === 0) return true;
  if (expected !== undefined && stderr.includes(expected)) return false;
  throw new RuntError("cgroup", `in the machine: ${stderr.trim().replace(/^runt: /, "")}`);
}

/** The monitor's socket is in the jail, which is the root of the monitor; another path leads there from that of a process that has joined. @throws RuntError wrong-status: the monitor has ended */
function environment(record: IsolatedRecord, machine: MachineRecord, words: readonly string[]): string[] {
  return environmentFor(record, machine, { what: "verb", words, terminal: false });
}

/** Environment of a process that talks to the monitor. */
function environmentFor(record: IsolatedRecord, { socket }: MachineRecord, request: object): string[] {
  // The number may be another process's by now, which has a socket of its own at that path.
  if (!initState(record)) throw new RuntError("wrong-status", WORDS.notRunning);
  return [...toEnvironment(request), `${SOCKET_VARIABLE}=/proc/${record.pid}/root${socket}`];
}

/** How long a guest may take to say what its kernel counts, and how many bytes of it are read. */
const REPORT_MS = 5000;
const REPORT_MOST = 16 << 10;

/** What the kernel of the guest counts: text of the guest's, which is not to be trusted. undefined: the guest has not answered, or with an error. */
export function guestReport(record: IsolatedRecord, machine: MachineRecord): string | undefined {
  const env = environment(record, machine, ["machine", "report"]);
  const { status, timedOut, stdout } = host.runProgram(SELF, ["runt", "machine-join"], env, "", REPORT_MS, REPORT_MOST);
  return status === 0 && !timedOut ? stdout : undefined;
}

/** Prints what the guest's kernel has printed on its console. Returns the exit status. `follows`: also what it prints from now on. */
export function showConsole(record: IsolatedRecord, machine: MachineRecord, follows: boolean): number {
  const request: ConsoleRequest = { follows };
  const pid = host.spawnPeer(SELF, ["runt", "machine-console"], [], environmentFor(record, machine, request));
  return host.waitpid(pid, 0)?.status ?? 1;
}
