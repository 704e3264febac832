/** Somebody else's process, which moves into a cgroup that was there before the container. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { enterPlace, makePlace, removePlace } from "../support/places.ts";

const PARENT = `/bystander-${process.pid}`;
const CGROUP = `${PARENT}/kept`;

export interface Bystander {
  /** Path of the cgroup. */
  readonly cgroup: string;
  enter(): void;
  /** It ends, and so does the cgroup. What has been done to it before; undefined: nothing. */
  end(): Promise<string | undefined>;
}

/** One at a time. */
export function startBystander(): Bystander {
  const child = spawn("sleep", ["infinity"], { stdio: "ignore", detached: true });
  const ended = once(child, "exit");
  makePlace(CGROUP);
  return {
    cgroup: CGROUP,
    enter: () => void enterPlace(CGROUP, child.pid!),
    async end() {
      const harm = isAlive(child) ? undefined : "somebody else's process was killed";
      child.kill("SIGKILL");
      await ended;
      await removePlace(PARENT);
      return harm;
    },
  };
}

/** The kernel knows of its end before Node does. */
function isAlive({ pid, signalCode }: ChildProcess): boolean {
  if (signalCode !== null) return false;
  try {
    return !/^[ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, ""));
  } catch {
    return false;
  }
}
