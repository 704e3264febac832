/** Files that a task names and the daemon reads: config.json of a bundle, the object of a seccomp filter, variables. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { OciObject } from "../../executor/index.ts";
import { parseExactJson } from "../../shared/text/index.ts";
import { bundleProblems, parseEnvFile } from "../plan/index.ts";
import type { ContainerSpec, TaskSpec } from "../spec/index.ts";

/** A larger one is a mistake. */
const LARGEST = 4 << 20;

/** What the files of a container say. */
export interface SpecFiles {
  /** config.json of its bundle. */
  readonly config?: OciObject;
  /** linux.seccomp. */
  readonly seccomp?: OciObject;
  /** Of all its env files together. */
  readonly env?: Readonly<Record<string, string>>;
}

/** @throws Error, which names the file */
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
  // A FIFO of this name would wait for its writer.
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
