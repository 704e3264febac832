/** Why a program could not be found or executed: sentences that name the culprit. */

import { describeOther, findLoader, machineName, NATIVE_MACHINES, parseElf, parseFirstLine } from "../check/index.ts";
import * as host from "../host/index.ts";
import { closeNames } from "../spec/index.ts";
import {
  type ContainerRoot,
  type Found,
  find,
  isDirectory,
  isRegular,
  latin1,
  linkText,
  mountOf,
  namesIn,
  readPart,
  splitPath,
} from "./container-root.ts";

/** As much as the kernel reads to tell what a file is (BINPRM_BUF_SIZE), and room for the program headers behind it. */
const HEAD_SIZE = 4096;
const FIRST_LINE_MAX = 255;
const PATH_MAX = 4096;
/** The kernel gives up after five interpreters. */
const DEPTH_MAX = 5;
const EXECUTE_BITS = 0o111;

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** A name without a slash that is nowhere along PATH. */
export function explainUnknownName(container: ContainerRoot, name: string, path: string): string {
  if (name === "") return "process.args[0] is empty";
  if (path === "") return "process.env has no PATH to look in";
  if (/\s/.test(name)) return `"${name}" is taken as one name: every argument is an element of its own`;
  const directories = path.split(":");
  for (const directory of directories) {
    const text = linkText(container, `${directory}/${name}`);
    if (text !== undefined) return deadLink(`${directory}/${name}`, text);
  }
  const names = closeNames(
    name,
    directories.flatMap((directory) => [...namesIn(container, directory)]),
  );
  return `${didYouMean(names)}not in ${directories.join(", ")}`;
}

function deadLink(path: string, text: string): string {
  return `${path} is a link to ${text}, which is not there`;
}

function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? "" : `did you mean ${names.join(" or ")}? `;
}

/** A path that leads nowhere. `path`: PATH of the process, for a program of that name elsewhere. */
export function explainMissing(container: ContainerRoot, program: string, path = ""): string | undefined {
  const parts = program.split("/").filter((part) => part !== "");
  let reached = "";
  for (const [index, part] of parts.entries()) {
    const next = `${reached}/${part}`;
    const found = find(container, next);
    if (typeof found === "string") {
      const text = linkText(container, next);
      if (text !== undefined) return deadLink(next, text);
      const names = closeNames(part, namesIn(container, reached));
      const elsewhere = path
        .split(":")
        .find((directory) => directory !== "" && typeof find(container, `${directory}/${parts.at(-1)}`) !== "string");
      const hint =
        elsewhere === undefined ? didYouMean(names.map((name) => `${reached}/${name}`)) : `there is ${elsewhere}/${parts.at(-1)}: `;
      return `${hint}${reached === "" ? "the root" : reached} has no ${part}`;
    }
    if (index < parts.length - 1 && !isDirectory(found)) return `${next} is not a directory`;
    reached = next;
  }
  return undefined;
}

/** A program that exists and may not be executed. */
export function explainDenied(container: ContainerRoot, program: string, user?: User): string | undefined {
  const found = find(container, program);
  if (typeof found === "string") return undefined;
  if (isDirectory(found)) return `${program} is a directory`;
  if (!isRegular(found)) return `${program} is not a regular file`;
  const mode = found.stat.mode & 0o7777;
  const shown = `0${mode.toString(8).padStart(3, "0")}`;
  if ((mode & EXECUTE_BITS) === 0) return `${program} has no execute permission (mode ${shown})`;
  const mount = mountOf(container, found);
  if (mount?.options.includes("noexec")) return `${program} is on a file system mounted with noexec (${mount.point})`;
  if (user === undefined || user.uid === 0) return undefined;
  const { uid, gid } = found.stat;
  return explainSearch(container, program, user) ?? `uid ${user.uid} may not execute ${program} (mode ${shown}, owner ${uid}:${gid})`;
}

/** A directory on the way that the user may not search. */
function explainSearch(container: ContainerRoot, program: string, user: User): string | undefined {
  for (let { directory } = splitPath(program); directory !== "/"; directory = splitPath(directory).directory) {
    const found = find(container, directory);
    if (typeof found === "string") continue;
    const { mode, uid, gid } = found.stat;
    const bits = uid === user.uid ? mode >> 6 : gid === user.gid ? mode >> 3 : mode;
    if ((bits & 1) === 0) return `uid ${user.uid} may not enter ${directory} (mode 0${(mode & 0o7777).toString(8)}, owner ${uid}:${gid})`;
  }
  return undefined;
}

/** A program that was found and that execve(2) refuses: what it needs is looked at. */
export function explainExecve(container: ContainerRoot, program: string, user?: User, depth = 0): string | undefined {
  const found = find(container, program);
  if (typeof found === "string") return explainMissing(container, program);
  if (!isRegular(found) || (found.stat.mode & EXECUTE_BITS) === 0) return explainDenied(container, program, user);
  if (depth > DEPTH_MAX) return `${program} is the last of too many interpreters`;
  const head = readPart(found, 0, HEAD_SIZE);
  return (
    explainScript(container, program, latin1(head), user, depth) ??
    explainElf(container, program, found, head) ??
    explainDenied(container, program, user)
  );
}

function explainScript(container: ContainerRoot, program: string, head: string, user: User | undefined, depth: number): string | undefined {
  const line = parseFirstLine(head.slice(0, FIRST_LINE_MAX));
  if (line === undefined) return undefined;
  const { interpreter, carriageReturn } = line;
  if (interpreter === "") return `${program}: no interpreter follows #! in its first line`;
  if (carriageReturn) {
    return `${program} has Windows line endings: its first line ends with CR LF, so that the interpreter would be "${interpreter}\\r"`;
  }
  if (typeof find(container, interpreter) === "string") {
    return `${program} is a script for ${interpreter}, which is missing: ${explainMissing(container, interpreter) ?? "it cannot be reached"}`;
  }
  const reason = explainExecve(container, interpreter, user, depth + 1);
  return reason === undefined ? undefined : `${program} is a script for ${interpreter}: ${reason}`;
}

function explainElf(container: ContainerRoot, program: string, found: Found, head: ArrayBuffer): string | undefined {
  const elf = parseElf(head);
  if (elf === undefined) {
    const text = latin1(head);
    return text.startsWith("\u007fELF") ? `${program} is cut off in its header` : `${program}: ${describeOther(text)}`;
  }
  const native = NATIVE_MACHINES[host.architecture];
  if (!native.includes(elf.machine)) {
    return `${program} is a program for ${machineName(elf.machine)}, this machine runs ${machineName(native[0]!)}: wrong architecture`;
  }
  if (!elf.executable) return `${program} is an ELF file that is not a program`;
  const { offset, size, count } = elf.headers;
  const table = readPart(found, offset, Math.min(size * count, 1 << 16));
  const loader = findLoader(elf, table);
  if (loader === undefined) return table.byteLength < size * count ? `${program} is cut off in its header` : undefined;
  const path = latin1(readPart(found, loader.offset, Math.min(loader.length, PATH_MAX))).replace(/\0.*$/s, "");
  return explainLoader(container, program, path);
}

function explainLoader(container: ContainerRoot, program: string, path: string): string | undefined {
  const found = find(container, path);
  if (typeof found === "string") return `${program} needs the loader ${path}, which is missing${libraryHint(path)}`;
  if (!isRegular(found)) return `${program} needs the loader ${path}, which is not a regular file`;
  const elf = parseElf(readPart(found, 0, HEAD_SIZE));
  if (elf === undefined) return `${program} needs the loader ${path}, which is not a program (ELF)`;
  return NATIVE_MACHINES[host.architecture].includes(elf.machine)
    ? undefined
    : `${program} needs the loader ${path}, which is for ${machineName(elf.machine)}: wrong architecture`;
}

function libraryHint(path: string): string {
  if (path.includes("ld-musl")) return " (it was linked with musl)";
  return /\/ld(-linux|64)/.test(path) ? " (it was linked with glibc)" : "";
}
