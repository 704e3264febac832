/** What /proc says of processes. A pid means nothing without the time its process was started (start ticks). */
import { readFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";

export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  /** Clock ticks since boot, decimal. */
  readonly startTicks: string;
  /** CPU time so far, in clock ticks. */
  readonly userTicks: number;
  readonly systemTicks: number;
}

/** undefined: there is no such process. @throws as readProc */
export function processStat(pid: number): ProcessStat | undefined {
  const text = readProc(pid, "stat");
  if (text === undefined) return undefined;
  // The name may hold blanks and brackets: what follows its last bracket are the fields from the third on (proc(5)).
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const field = (number: number) => fields[number - 3] ?? "0";
  return {
    pid,
    state: field(3),
    parent: Number(field(4)),
    userTicks: Number(field(14)),
    systemTicks: Number(field(15)),
    startTicks: field(22),
  };
}

/** So many processes are looked at in about a millisecond. */
const PROCESSES_AT_ONCE = 128;

/**
 * For loops over processes, of which a container may have very many: the result is called once for each of them, and when it returns a promise the loop
 * awaits that, so that this process does its other work meanwhile.
 */
export function slices(): () => Promise<void> | undefined {
  let count = 0;
  return () => (++count % PROCESSES_AT_ONCE === 0 ? setImmediate() : undefined);
}

/** Gone, or hidden: with hidepid the kernel shows this user no processes of others. */
const NOT_THERE = ["ENOENT", "ESRCH", "EACCES", "EPERM"];

/** undefined: there is no such process. @throws the other errors of open(2) and read(2), such as EMFILE: they say nothing about the process */
export function readProc(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch (error) {
    if (!NOT_THERE.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return undefined;
  }
}

/** Whether this process or the host had no descriptor or no memory left: what was to be looked at may well be there. */
export function isShortage(error: unknown): boolean {
  return ["EMFILE", "ENFILE", "ENOMEM"].includes((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}

/** Ignores the error of a look at something that may be gone or damaged. @throws the error, if it says nothing about that */
export function unlessShortage(error: unknown): undefined {
  if (isShortage(error)) throw error;
  return undefined;
}

/** The identity of a process: a pid is used again, and after a reboot so may be the start ticks. `bootId` undefined: of this boot. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTicks: string;
  readonly bootId?: string | undefined;
}

/** True while the process that was started then, in this boot, is there and no zombie. @throws as readProc */
export function isAlive({ pid, startTicks, bootId }: ProcessIdentity): boolean {
  if (isOfAnotherBoot(bootId)) return false;
  const found = processStat(pid);
  return found !== undefined && found.startTicks === startTicks && found.state !== "Z" && found.state !== "X";
}

/** As isAlive, and true as well while nobody can say. */
export function mayBeAlive(identity: ProcessIdentity): boolean {
  try {
    return isAlive(identity);
  } catch (error) {
    if (!isShortage(error)) throw error;
    return true;
  }
}

let known: string | undefined;

/** Which boot of the host this is: a pid and its start ticks are of one boot (random(4)). */
export function thisBoot(): string {
  known ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return known;
}

/** Records of an older library do not say it: they are taken to be of this boot. */
export function isOfAnotherBoot(bootId: string | undefined): boolean {
  return bootId !== undefined && bootId !== thisBoot();
}
