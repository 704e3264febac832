import { argv, getenv, getpid } from "runt:client";
import { handOver } from "./hand-over.ts";
import { exit } from "./output.ts";

export function variable(name: string): string | undefined {
  return getenv(name);
}

export function ownPid(): number {
  return getpid();
}

/** What the client on Node has: that client goes on from here. The call of the source has what it loads, which the build leaves out. */
export function onNode(): never {
  exit(handOver());
}

/** The command line. */
export function words(): readonly string[] {
  return argv().slice(1);
}
