import { argv, build, getenv, getpid } from "runt:client";
import { readFile } from "./files.ts";

export const { version } = build;

export function variable(name: string): string | undefined {
  return getenv(name);
}

/** In bytes: what execve(2) takes at most is less. */
const LARGEST_ENVIRONMENT = 64 * 1024 * 1024;

/** All variables. */
export function environment(): Readonly<Record<string, string>> {
  const text = Buffer.from(readFile("/proc/self/environ", LARGEST_ENVIRONMENT)).toString();
  const pairs = text.split("\0").flatMap((entry) => {
    const at = entry.indexOf("=", 1);
    return at < 0 ? [] : [[entry.slice(0, at), entry.slice(at + 1)] as const];
  });
  // Of a variable that is there twice the first counts, as for getenv(3).
  return Object.fromEntries(pairs.reverse());
}

export function ownPid(): number {
  return getpid();
}

/** The command line. */
export function words(): readonly string[] {
  return argv().slice(1);
}
