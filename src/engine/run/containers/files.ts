/** Files that a task names and that the daemon reads: config.json of a bundle, a seccomp filter, env files. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { OciObject } from "../../../executor/index.ts";
import { parseExactJson } from "../../../shared/text/index.ts";
import { bundleProblems, parseEnvFile } from "../../plan/index.ts";
import type { ContainerSpec, TaskSpec } from "../../spec/index.ts";

/** In bytes. A larger file is named by mistake. */
const LARGEST = 4 << 20;

/** The contents of the files that a container names. */
export interface SpecFiles {
  /** config.json of its bundle. */
  readonly config?: OciObject;
  /** linux.seccomp. */
  readonly seccomp?: OciObject;
  /** The merged variables of all its env files. */
  readonly env?: Readonly<Record<string, string>>;
}

/** @throws Error: a file cannot be read or is wrong; the message has its path */
export function readSpecFiles(task: TaskSpec, container: ContainerSpec): SpecFiles {
  const { bundle, seccomp } = container;
  if (bundle !== undefined) {
    const path = join(bundle, "config.json");
    const config = readObject(path);
    const problems = bundleProblems(task, container, config);
    if (problems.length > 0) throw new Error(`${path}: ${problems.join("; ")}`);
    return { config };
  }
  const env = environmentIn(container);
  if (seccomp === undefined || seccomp === "unconfined") return env;
  const filter = readObject(seccomp);
  if (typeof filter["defaultAction"] !== "string") throw new Error(`${seccomp}: it has no defaultAction, which a seccomp object has`);
  return { seccomp: filter, ...env };
}

function environmentIn({ envFiles }: ContainerSpec): Pick<SpecFiles, "env"> {
  if (envFiles === undefined) return {};
  const found = envFiles.map((path) => {
    try {
      return parseEnvFile(readText(path));
    } catch (error) {
      throw new Error(`cannot read ${path}: ${(error as Error).message}`, { cause: error });
    }
  });
  return { env: Object.assign({}, ...found) as Record<string, string> };
}

function readObject(path: string): OciObject {
  let value: unknown;
  try {
    value = parseExactJson(readText(path));
  } catch (error) {
    throw new Error(`cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${path}: it is no JSON object`);
  return value as OciObject;
}

function readText(path: string): string {
  // Without O_NONBLOCK, opening a FIFO would wait for a writer.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(fd);
    if (!found.isFile()) throw new Error("it is no regular file");
    if (found.size > LARGEST) throw new Error(`it is larger than ${LARGEST} bytes`);
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}
