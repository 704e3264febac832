/** Records of containers that are lost, damaged or copied while nobody looks. */
import { execFileSync } from "node:child_process";
import {
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Root } from "./roots.ts";
import type { ENTRIES, WAYS } from "./steps.ts";

const NOBODY = 65_534;
const isContainer = (name: string): boolean => /^h\d+$/.test(name);
const typeOf = (path: string) => lstatSync(path, { throwIfNoEntry: false });

/** False: there is none. */
export function lose({ path }: Root, id: string): boolean {
  const own = join(path, id);
  if (!typeOf(own)?.isDirectory()) return false;
  rmSync(own, { recursive: true, force: true });
  return true;
}

/** `treasure`: a directory of somebody else, for links. False: nothing has changed. */
export function damage(
  { path }: Root,
  id: string,
  [entry, way]: readonly [(typeof ENTRIES)[number], (typeof WAYS)[number]],
  { treasure, others }: { readonly treasure: string; readonly others: readonly Root[] },
): boolean {
  const own = join(path, id);
  const file = join(own, entry);
  // Behind a link it would be somebody else's.
  if (!typeOf(own)?.isDirectory()) return false;
  const found = typeOf(file);
  switch (way) {
    case "gone":
    case "a directory":
    case "a FIFO":
    case "a link":
    case "a link to a directory":
      if (!found && way === "gone") return false;
      rmSync(file, { recursive: true, force: true });
      if (way === "a directory") mkdirSync(file);
      if (way === "a FIFO") execFileSync("mkfifo", [file]);
      if (way.startsWith("a link")) symlinkSync(way === "a link" ? join(treasure, "state.json") : treasure, file);
      return true;
    case "another's":
      return replaceBy(file, others, id, entry);
    case "of another user":
      if (!found || found.isSymbolicLink()) return false;
      chownSync(file, NOBODY, NOBODY);
      return true;
    default:
      if (found && !found.isFile()) return false;
      if (way === "empty" || !found) writeFileSync(file, "");
      else if (way === "cut off") truncateSync(file, Math.floor(statSync(file).size / 2));
      if (way === "garbage") writeFileSync(file, Buffer.from("\u0000\u00ff[1]"));
      return true;
  }
}

/** By that of a container of another root, with this id or another one. */
function replaceBy(file: string, others: readonly Root[], id: string, entry: string): boolean {
  const candidates = others.flatMap(({ path }) => [id, "h0", "h1", "h2"].map((name) => join(path, name, entry)));
  const other = candidates.find((path) => path !== file && typeOf(path)?.isFile());
  if (other === undefined || (existsSync(file) && !typeOf(file)!.isFile())) return false;
  rmSync(file, { force: true });
  copyFileSync(other, file);
  return true;
}

/** What is there already stays: it may be a container's that was made in the copy. The first copy takes the directory itself along, with its mark. */
export function copy(from: Root, to: Root): void {
  if (!typeOf(from.path)?.isDirectory()) return;
  const cp = (...args: string[]) => {
    try {
      execFileSync("cp", ["-a", ...args], { stdio: "ignore" });
    } catch {
      // Something has gone meanwhile, or cannot be copied: then it is a copy of a part.
    }
  };
  if (!existsSync(to.path)) cp(from.path, to.path);
  for (const name of readdirSync(from.path).filter(isContainer)) if (!typeOf(join(to.path, name))) cp(join(from.path, name), to.path);
}

/** Names of containers that still are there. */
export function containersOf({ path }: Root): readonly string[] {
  return existsSync(path) ? readdirSync(path).filter(isContainer) : [];
}
