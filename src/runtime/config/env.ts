/** process.env: every entry NAME=value, one entry a name. */
import { RuntError } from "../errors/index.ts";
import type { Warn } from "./warnings.ts";

function refuse(reason: string, pointer: string): RuntError {
  return new RuntError("config-invalid", `invalid environment variable: ${reason}`, { pointer, finding: "env-syntax" });
}

/** The name of one entry. @throws RuntError config-invalid */
export function envName(entry: string, at: string): string {
  const equals = entry.indexOf("=");
  if (equals === -1) throw refuse(`"${entry}" has no "="`, at);
  if (equals === 0) throw refuse(`"${entry}" has no name`, at);
  const name = entry.slice(0, equals);
  if (entry.includes("\0")) throw refuse(`"${name}" contains a NUL byte`, at);
  return name;
}

/** Of entries with the same name the last one wins, at its own place, as execve's callers see it. */
export function deriveEnv(env: readonly string[], pointer: string, warn: Warn): readonly string[] {
  const last = new Map<string, number>();
  for (let index = 0; index < env.length; index++) {
    const at = `${pointer}/${index}`;
    const name = envName(env[index] as string, at);
    if (last.has(name)) warn("env-duplicate", at, `environment variable "${name}" is set more than once, the last one wins`);
    last.set(name, index);
  }
  return last.size === env.length ? env : env.filter((entry, index) => last.get(entry.slice(0, entry.indexOf("="))) === index);
}
