/** Which `runt` is used: the one that comes with the package, else RUNT_BINARY, else the first in PATH. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { packagedPrograms, runProgramNow } from "../../node/index.ts";
import { ExecutorError } from "../errors.ts";
import { LIBRARY_VERSION } from "../version.ts";

/** What is tried, in this order; the first file that can be executed is taken. */
export function candidates(environment: NodeJS.ProcessEnv = process.env): string[] {
  const named = environment["RUNT_BINARY"] ? [environment["RUNT_BINARY"]] : [];
  const path = (environment["PATH"] ?? "").split(delimiter).filter(Boolean);
  return [...packagedPrograms("runt"), ...named, ...path.map((directory) => join(directory, "runt"))];
}

/** @throws ExecutorError runtime-not-found, with the places that were tried */
export function locateRuntime(tried: readonly string[] = candidates()): string {
  const found = tried.find(isProgram);
  if (found !== undefined) return found;
  throw new ExecutorError("runtime-not-found", `no runt found: tried ${tried.join(", ")} (set RUNT_BINARY)`, { tried });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

const checked = new Map<string, string>();

/**
 * The version of a `runt`, which has to go with this library: the same major number, and before 1.0 the same minor one.
 * @throws ExecutorError runtime-not-found, runtime-version
 */
export function checkVersion(binary: string): string {
  const known = checked.get(binary);
  if (known !== undefined) return known;
  const { stdout: bytes, failure } = runProgramNow(binary, ["--version"]);
  if (failure !== undefined) throw new ExecutorError("runtime-not-found", `${binary} --version: it ${failure}`, { tried: [binary] });
  const stdout = bytes.toString();
  const version = /^runt version (\S+)/m.exec(stdout)?.[1];
  if (version === undefined)
    throw new ExecutorError("runtime-version", `${binary} is not runt: it says ${JSON.stringify(stdout.slice(0, 80))}`);
  if (series(version) !== series(LIBRARY_VERSION)) {
    throw new ExecutorError("runtime-version", `${binary} is runt ${version}, this library needs ${series(LIBRARY_VERSION)}.x`, {
      binary,
      version,
      library: LIBRARY_VERSION,
    });
  }
  checked.set(binary, version);
  return version;
}

function series(version: string): string {
  const [major, minor] = version.split(".");
  return major === "0" ? `0.${minor}` : `${major}`;
}
