/** Names of capabilities: the kernel knows numbers only, so that a name it has no number for would vanish. Source: capabilities(7). */
import { CAPABILITIES } from "../../shared/linux/index.ts";
import { ExecutorError } from "../errors.ts";
import { processIn } from "./bundle.ts";
import type { CommandLaunch, LaunchCommand } from "./command.ts";

type Sets = Readonly<Record<string, unknown>>;

/**
 * Every name in `capabilities`, or in process.capabilities of an OCI process, is one of `allowed`, as it is written there.
 * @throws ExecutorError invalid-argument, which names the word; `details` have `name`, `field` and `allowed`
 */
export function checkCapabilities(command: LaunchCommand, allowed: readonly string[] = CAPABILITIES): void {
  const process = processIn(command);
  const field = process === undefined ? "capabilities" : "process.capabilities";
  const given = process === undefined ? (command as CommandLaunch).capabilities : process["capabilities"];
  if (given === undefined || given === null) return;
  if (Array.isArray(given)) checkNames(field, given, allowed);
  else for (const [set, names] of Object.entries(given as Sets)) checkNames(`${field}.${set}`, names, allowed);
}

function checkNames(field: string, names: unknown, allowed: readonly string[]): void {
  if (names === undefined) return;
  if (!Array.isArray(names)) throw refused(field, names, "is no list of names", allowed);
  for (const name of names) {
    if (typeof name !== "string") throw refused(field, name, "is no name", allowed);
    if (!allowed.includes(name)) throw refused(field, name, reasonOf(name), allowed);
  }
}

function reasonOf(name: string): string {
  const upper = name.toUpperCase();
  const meant = upper.startsWith("CAP_") ? upper : `CAP_${upper}`;
  if (meant !== name && (CAPABILITIES as readonly string[]).includes(meant)) return `is no capability: use ${meant}`;
  return (CAPABILITIES as readonly string[]).includes(name) ? "is no capability of this kernel" : "is no capability";
}

function refused(field: string, name: unknown, reason: string, allowed: readonly string[]): ExecutorError {
  return new ExecutorError("invalid-argument", `${field}: ${JSON.stringify(name)} ${reason}`, { field, name, allowed });
}
