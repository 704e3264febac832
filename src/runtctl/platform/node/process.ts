import { setTimeout as delay } from "node:timers/promises";
import type { End } from "../contract.ts";

export function variable(name: string): string | undefined {
  return process.env[name];
}

export function ownPid(): number {
  return process.pid;
}

/** Ends the program at once. */
export function exit(status: number): never {
  process.exit(status);
}

/** Returns early at the end. */
export async function sleep(milliseconds: number, end?: End): Promise<void> {
  await delay(milliseconds, undefined, { signal: end as AbortSignal | undefined }).catch(() => {});
}

export function endIn(milliseconds: number): End {
  return AbortSignal.timeout(milliseconds);
}

/** Calls `handler` for SIGINT and SIGTERM, which do not end the program meanwhile. Returns how to stop that. */
export function onEndingSignals(handler: () => void): () => void {
  process.on("SIGINT", handler).on("SIGTERM", handler);
  return () => process.off("SIGINT", handler).off("SIGTERM", handler);
}

/**
 * What only the client on Node has, and loads late. The native client hands over to that client here, by execve(2): before this nothing may have been changed
 * or printed.
 */
export function onNode<T>(load: () => Promise<T>): Promise<T> {
  return load();
}
