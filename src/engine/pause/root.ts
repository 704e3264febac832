/**
 * Makes a root file system that contains only the pause program. Its name is a hash of the program, so that a newer version gets another directory
 * while older ones still run.
 */
import { createHash } from "node:crypto";
import { lstatSync, mkdtempSync, readFileSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { packagedPrograms, writeOwnFile } from "../../node/index.ts";
import { makeOwnDirectory, readOwnFile, removeOwnTree } from "../own/index.ts";

/** Path of the program inside the root file system. */
export const PAUSE_PROGRAM = "/pause";

/** The root file system for one engine. */
export class PauseRoot {
  readonly #directory: string;
  readonly #runtime: string;

  /**
   * @param directory for the root file systems of all versions.
   * @param runtime path of the runt executable; the program may be in the same directory
   */
  constructor(directory: string, runtime: string) {
    this.#directory = directory;
    this.#runtime = runtime;
  }

  /** Path of the root file system, which is made if it is missing. @throws PauseNotFoundError; the errors of makePauseRoot */
  path(): string {
    return makePauseRoot(this.#directory, locatePause(this.#runtime));
  }
}

/**
 * @param directory parent of the root file systems of all versions; created if missing
 * @param program path of the program, which is copied so that containers cannot reach the host's file
 * @returns path of the root file system. @throws Error: something else has its name; the errors of the system calls
 */
function makePauseRoot(directory: string, program: string): string {
  const content = readFileSync(program);
  const root = join(directory, createHash("sha256").update(content).digest("hex").slice(0, 16));
  if (isMade(root, content)) return root;
  makeOwnDirectory(directory, { mode: 0o700 });
  const making = mkdtempSync(join(directory, "making-"));
  const file = join(making, "root", PAUSE_PROGRAM);
  try {
    // Everyone must be able to execute it, whatever the umask of this process.
    makeOwnDirectory(join(making, "root"), { mode: 0o755 });
    writeOwnFile(file, content, 0o755);
    renameSync(join(making, "root"), root);
  } catch (error) {
    // Another process may have made it first.
    if (!isMade(root, content)) throw error;
  } finally {
    removeOwnTree(making);
  }
  return root;
}

function isMade(root: string, content: Buffer): boolean {
  try {
    return lstatSync(root).isDirectory() && readOwnFile(join(root, PAUSE_PROGRAM)).equals(content);
  } catch {
    return false;
  }
}

/** Name of the pause program, which comes with the package or is installed with the runtime. */
const NAME = "runt-pause";

class PauseNotFoundError extends Error {
  override readonly name = "PauseNotFoundError";
  readonly tried: readonly string[];

  constructor(tried: readonly string[]) {
    super(`no ${NAME} found, which holds shared namespaces: tried ${tried.join(", ")}`);
    this.tried = tried;
  }
}

/** @param runtime path of the runt executable. @throws PauseNotFoundError */
export function locatePause(runtime: string): string {
  const beside = dirname(runtime);
  const tried = [...packagedPrograms(NAME), join(beside, NAME), join(beside, "../libexec/runt", NAME)];
  const found = tried.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
  if (found === undefined) throw new PauseNotFoundError(tried);
  return found;
}
