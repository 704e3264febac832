/**
 * The commit of a work tree of git, read from its files: no program of git runs, because that would execute what the repository configures. Source:
 * gitrepository-layout(5).
 */
import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { readTrustedFile } from "../trusted-file.ts";

const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** In bytes. packed-refs has a line for each reference. */
const LARGEST = 16 * 1024 * 1024;
/** A reference may name another one. */
const MOST_STEPS = 5;
/** Names of references that git itself accepts; none leads out of the directory. */
const REFERENCE = /^refs\/(?!.*\.\.)[\w./@+-]+$/;

export interface WorkTree {
  /** Whether git is changing the files at this moment. */
  readonly isLocked: boolean;
  /** Reads the commit, which takes longer in a repository with many references. */
  head(): Head;
}

export interface Head {
  /** undefined: it could not be read. */
  readonly commit: string | undefined;
  /** Why it could not; "": it was read. */
  readonly problem: string;
}

/** undefined: the directory is in no work tree. */
export function workTreeOf(directory: string): WorkTree | undefined {
  const entry = entryOf(directory);
  if (entry === undefined) return undefined;
  const unknown = (error: unknown): Head => ({
    commit: undefined,
    problem: `the commit of ${dirname(entry)} is not recorded: ${(error as Error).message}`,
  });
  try {
    const own = gitDirectory(entry);
    const head = (): Head => {
      try {
        return { commit: headOf(own), problem: "" };
      } catch (error) {
        return unknown(error);
      }
    };
    return { isLocked: existsSync(join(own, "index.lock")), head };
  } catch (error) {
    return { isLocked: false, head: () => unknown(error) };
  }
}

/** `.git` of the nearest directory that has one. */
function entryOf(directory: string): string | undefined {
  const entry = join(directory, ".git");
  if (existsSync(entry)) return entry;
  const above = dirname(directory);
  return above === directory ? undefined : entryOf(above);
}

/** In a further work tree and in a submodule, `.git` is a file that names the directory. */
function gitDirectory(entry: string): string {
  try {
    const [, path] = /^gitdir: (.+)$/m.exec(readTrustedFile(entry, LARGEST).text) ?? [];
    if (path === undefined) throw new Error(`${entry} names no directory`);
    return resolve(dirname(entry), path);
  } catch (error) {
    if (["EISDIR", "untrusted-file"].includes((error as NodeJS.ErrnoException).code ?? "") && existsSync(join(entry, "HEAD"))) return entry;
    throw error;
  }
}

function headOf(own: string): string {
  const common = textOf(join(own, "commondir"))?.trim();
  const shared = common === undefined ? own : isAbsolute(common) ? common : join(own, common);
  if (existsSync(join(shared, "reftable")))
    throw new Error(`the references in ${shared} are in the format reftable, which runtd does not read`);
  let value = textOf(join(own, "HEAD"))?.trim() ?? "";
  for (let step = 0; step < MOST_STEPS; step++) {
    if (HASH.test(value)) return value;
    const [, name = ""] = /^ref: (.+)$/.exec(value) ?? [];
    if (!REFERENCE.test(name)) throw new Error(`${join(own, "HEAD")} names no reference and no commit`);
    value = textOf(join(own, name))?.trim() ?? textOf(join(shared, name))?.trim() ?? packed(shared, name);
  }
  throw new Error(`${join(own, "HEAD")} leads to more than ${MOST_STEPS} references`);
}

function packed(shared: string, name: string): string {
  const line = textOf(join(shared, "packed-refs"))
    ?.split("\n")
    .find((one) => one.endsWith(` ${name}`));
  if (line === undefined) throw new Error(`there is no commit of ${name} yet`);
  return line.split(" ")[0]!;
}

/** undefined: there is no such file. @throws UntrustedFileError */
function textOf(path: string): string | undefined {
  try {
    return readTrustedFile(path, LARGEST).text;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
