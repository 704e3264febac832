/** Fault points of the test build (native-bindings/testing/testing.h), and the faults that are tried at each. */
import { readFileSync } from "node:fs";

export interface Point {
  /** runtime, intermediate, init or monitor. */
  readonly process: string;
  readonly number: number;
  /** "before mkdir /path", "after mount.bind", "before sending ready". */
  readonly name: string;
}

export interface Fault {
  readonly point: Point;
  /** "kill" or the name of an errno. */
  readonly action: string;
}

/** The lines of a log; what is counted anew by a second process of the same name is left out: it cannot be told from the first. */
export function readPoints(file: string): Point[] {
  const seen = new Set<string>();
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, process = "", number = "", name = ""] = /^(\S+) (\d+) (.*)$/.exec(line) ?? [];
      const key = `${process} ${number}`;
      if (process === "" || seen.has(key)) return [];
      seen.add(key);
      return [{ process, number: Number(number), name }];
    });
}

/** Errors besides EIO, by what is about to be done. */
const LIKELY: readonly (readonly [RegExp, string])[] = [
  [/^before (writeFile|write|mkdir|mkfifo|rename|memfd|setxattr|symlink|link) /, "ENOSPC"],
  [/^before (open|openat|readFile|readOwn|readMembers|readLine|socketpair|sharedPage|pidfdOpen|receiveMessage|readdir)/, "EMFILE"],
  [/^before (spawnHelper|runProgram|execHelper|mount\.|process\.(clone|exec)|path\.mask|namespace\.)/, "ENOMEM"],
  [/^before (mkdir|writeFile|unlink|rmdir|kill|mount\.|cgroup\.)/, "EACCES"],
];

/** Points that need no kill: the process only reads or ends there, so the next point shows the same. */
const NOT_KILLED =
  /^before (read(File|Fd|Bytes|Members|Line|dir|link)|pread|l?stat|fstat|statfsType|access|realpath|getxattr|procStat|runningState|addContainers|userName|drain)\b/;
/** Points that cannot fail: those after a call, and those of the monitor. */
const NOT_FAILED = /^after |^before exit/;

export function faultsAt(point: Point): Fault[] {
  const actions = NOT_KILLED.test(point.name) ? [] : ["kill"];
  if (!NOT_FAILED.test(point.name) && point.process !== "monitor") {
    actions.push("EIO", ...LIKELY.filter(([pattern]) => pattern.test(`${point.name} `)).map(([, name]) => name));
  }
  return actions.map((action) => ({ point, action }));
}

export function describeFault({ point, action }: Fault): string {
  return `${action} in ${point.process} ${point.name} (${point.process}:${point.number})`;
}
