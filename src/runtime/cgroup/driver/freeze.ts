import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import type { CgroupRef } from "../model.ts";
import type { Owner } from "./survey.ts";
import { parentOf, readIfThere } from "./tree.ts";
import { waitForEvent } from "./wait.ts";
import { refuseAnothers } from "./whose.ts";

/** As long as runc waits. What sleeps in the kernel without being interruptible is stopped only at the end of that sleep. */
const LONGEST_MS = 10_000;
const PAUSE_MS = 2;

/** On v1. */
const STATE = "/freezer.state";
const SELF_FREEZING = "/freezer.self_freezing";
const FROZEN = "FROZEN";
const LIKELY = "/freezer/";

/** The file that freezes the container: cgroup.freeze (v2) or freezer.state of the hierarchy with the freezer (v1). */
export function freezeFile({ version, paths }: CgroupRef): string | undefined {
  if (version === 2) return paths[0] === undefined ? undefined : `${paths[0]}/cgroup.freeze`;
  // The usual name of the hierarchy first, to save probing the other ones.
  const likely = likelyFreezer(paths);
  const candidates = likely === undefined ? paths : [likely, ...paths];
  const directory = candidates.find((path) => host.access(path + STATE, 0));
  return directory === undefined ? undefined : directory + STATE;
}

export function isFrozen(cgroup: CgroupRef): boolean {
  // The usual place first: an attempt to read the file also tells whether it exists.
  const likely = cgroup.version === 1 ? likelyFreezer(cgroup.paths) : undefined;
  const state = (likely && host.readLine(likely + STATE)) ?? stateOf(freezeFile(cgroup));
  return cgroup.version === 2 ? state === "1" : state === FROZEN || state === "FREEZING";
}

/** Where it was in the last list of paths: those of a host's containers are in one order. */
let usual = 0;

function likelyFreezer(paths: readonly string[]): string | undefined {
  if (!paths[usual]?.includes(LIKELY)) {
    const index = paths.findIndex((path) => path.includes(LIKELY));
    if (index < 0) return undefined;
    usual = index;
  }
  return paths[usual];
}

function stateOf(file: string | undefined): string | undefined {
  return file === undefined ? undefined : host.readLine(file);
}

/**
 * Stop every process of the container; returns when the kernel says they are stopped. If that fails, or TERM, INT, HUP or QUIT ends the wait, they
 * run again.
 * @throws RuntError cgroup, HostError (EINTR: host.endingSignal says which signal it was)
 */
export function freeze(cgroup: CgroupRef, owner: Owner): void {
  refuseAnothers(cgroup, owner);
  const file = required(cgroup);
  host.blockSignals();
  host.endWaitsBySignal(true);
  try {
    write(file, cgroup.version === 2 ? "1" : FROZEN);
    if (cgroup.version === 2) awaitFrozenUnified(file);
    else awaitFrozen(file);
  } catch (error) {
    host.endWaitsBySignal(false);
    takeBack(cgroup, file);
    throw error;
  }
  host.endWaitsBySignal(false);
}

/** Let the processes of the container run again. Those below a cgroup that is frozen itself do when that is thawed. @throws RuntError cgroup */
export function thaw(cgroup: CgroupRef, owner: Owner): void {
  refuseAnothers(cgroup, owner);
  const file = required(cgroup);
  writeThawed(cgroup, file);
  // What the cgroup itself asks for: its processes are frozen also as long as one above it is.
  const own = cgroup.version === 2 ? file : parentOf(file) + SELF_FREEZING;
  if (host.readLine(own) === "1") throw new RuntError("cgroup", `${own}: another program has frozen the container again`);
}

function awaitFrozenUnified(file: string): void {
  if (!waitForEvent(parentOf(file), "frozen 1", LONGEST_MS)) throw tooLate(file);
}

/** v1 may stay FREEZING for ever when a task forks at the wrong moment; writing again gives it another try. */
function awaitFrozen(file: string): void {
  const deadline = host.monotonic() + LONGEST_MS;
  while (readIfThere(file)?.trim() !== FROZEN) {
    if (host.monotonic() > deadline) throw tooLate(file);
    host.poll([], [], PAUSE_MS);
    write(file, FROZEN);
  }
}

/** The error that has led here is the one to tell. */
function takeBack(cgroup: CgroupRef, file: string): void {
  try {
    writeThawed(cgroup, file);
  } catch (error) {
    if (!(error instanceof Error && "errno" in error)) throw error;
  }
}

function writeThawed({ version }: CgroupRef, file: string): void {
  write(file, version === 2 ? "0" : "THAWED");
}

function write(file: string, text: string): void {
  host.writeFile(file, text, host.O.WRONLY, 0);
}

function required(cgroup: CgroupRef): string {
  const file = freezeFile(cgroup);
  if (file === undefined) throw new RuntError("cgroup", "cannot freeze the container: it has no freezer cgroup");
  return file;
}

function tooLate(file: string): RuntError {
  return new RuntError(
    "cgroup",
    `${file}: not every process of the container has stopped within ${LONGEST_MS / 1000} seconds; all run again`,
  );
}

/**
 * Whether a container is frozen, where it is only shown: often the state of its init says that it is
 * not. State letters (proc_pid_stat(5)) of processes that no cgroup v1 has frozen, on the kernel of
 * this release.
 *
 * From Linux 6.1 on being frozen is a state of its own, which takes the place of the one before
 * (TASK_FROZEN; kernel/freezer.c, __set_task_frozen and __refrigerator): it is shown as R, from 6.14
 * on as D (include/linux/sched.h, __task_state_index), never as S. What sleeps where it cannot be
 * frozen is woken by freeze_task for that: it is not in S any more, either. What is exiting has left
 * its cgroup, and may be in S while that is frozen (the init of a PID namespace waits for the others,
 * which cannot end: kernel/pid_namespace.c, zap_pid_ns_processes): host.runningState calls it x. Older
 * kernels count a freezable sleep as frozen and leave it in S. On v2 a frozen process is in S
 * (TASK_INTERRUPTIBLE; kernel/signal.c, do_freezer_trap).
 */
export function awakeStatesOf(release: string): string {
  const [major, minor] = release.split(".");
  return Number(major) > 6 || (major === "6" && Number(minor) >= 1) ? "S" : "";
}

let known: string | undefined;

/** Those of this kernel. */
export function awakeStates(): string {
  known ??= awakeStatesOf(host.kernelRelease());
  return known;
}

/**
 * As isFrozen, by the state of init where that is enough. An init that was moved out of the container's cgroup is not frozen here, so a caller
 * that acts on the answer has to use isFrozen.
 */
export function isFrozenToShow(cgroup: CgroupRef, state: string): boolean {
  return !(cgroup.version === 1 && awakeStates().includes(state)) && isFrozen(cgroup);
}
