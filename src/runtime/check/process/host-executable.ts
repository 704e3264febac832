/** What execve(2) needs beside the file itself: an interpreter, a loader, a machine that runs it. */
import type { ContainerFiles, Found } from "../host/container-files.ts";
import type { BundleView } from "../host/view.ts";
import { describeOther, findLoader, machineName, NATIVE_MACHINES, parseElf, parseFirstLine } from "./executable.ts";

export interface FormatProblem {
  readonly code: "program-format" | "program-interpreter" | "program-loader" | "program-machine";
  readonly message: string;
}

const HEAD = 4096;
const FIRST_LINE = 255;
/** The kernel gives up after five interpreters. */
const DEPTH = 5;

/** One character a byte. */
function latin1(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join("");
}

/** undefined: nothing is known against it. */
export function explainFormat(files: Pick<ContainerFiles, "find">, file: Found, view: BundleView, depth = 0): FormatProblem | undefined {
  const bytes = file.tree.read(file.inTree, 0, HEAD);
  const head = latin1(bytes.slice(0, FIRST_LINE + 2));
  const line = parseFirstLine(head.slice(0, FIRST_LINE));
  if (line !== undefined) return explainScript(files, file, line, view, depth);
  const elf = parseElf(bytes);
  if (elf === undefined) {
    // The kernel may have a handler for such files (binfmt_misc).
    if (hasHandlers(view)) return undefined;
    const what = head.startsWith("\u007fELF") ? "it is cut off in its header" : describeOther(head);
    return { code: "program-format", message: `"${file.path}" is not a program: ${what}` };
  }
  return explainElf(files, file, elf, view);
}

function explainScript(
  files: Pick<ContainerFiles, "find">,
  file: Found,
  { interpreter, carriageReturn }: { readonly interpreter: string; readonly carriageReturn: boolean },
  view: BundleView,
  depth: number,
): FormatProblem | undefined {
  const problem = (message: string): FormatProblem => ({ code: "program-interpreter", message });
  if (interpreter === "") return problem(`"${file.path}": no interpreter follows #! in its first line`);
  if (carriageReturn) return problem(`"${file.path}" has Windows line endings: the kernel would look for "${interpreter}\\r"`);
  if (!interpreter.startsWith("/")) return undefined;
  const found = files.find(interpreter);
  if (found.status === "opaque") return undefined;
  if (found.status !== "found") return problem(`"${file.path}" is a script for ${interpreter}, which is not there`);
  if (found.facts.kind !== "file" || (found.facts.mode & 0o111) === 0)
    return problem(`"${file.path}" is a script for ${interpreter}, which is not a program`);
  if (depth >= DEPTH) return problem(`"${file.path}" is the last of too many interpreters`);
  return explainFormat(files, found, view, depth + 1);
}

function explainElf(
  files: Pick<ContainerFiles, "find">,
  file: Found,
  elf: NonNullable<ReturnType<typeof parseElf>>,
  view: BundleView,
): FormatProblem | undefined {
  const architecture = view.facts.kernel?.architecture;
  if (architecture === "amd64" || architecture === "arm64") {
    const native = NATIVE_MACHINES[architecture];
    if (!native.includes(elf.machine)) {
      if (hasHandlers(view)) return undefined;
      return {
        code: "program-machine",
        message: `"${file.path}" is for ${machineName(elf.machine)}, the host runs ${machineName(native[0] ?? 0)}`,
      };
    }
  }
  if (!elf.executable) return { code: "program-format", message: `"${file.path}" is an ELF file that is not a program` };
  const { offset, size, count } = elf.headers;
  const loader = findLoader(elf, file.tree.read(file.inTree, offset, Math.min(size * count, 1 << 16)));
  if (loader === undefined) return undefined;
  const path = latin1(file.tree.read(file.inTree, loader.offset, Math.min(loader.length, HEAD))).replace(/\0.*$/s, "");
  const found = files.find(path);
  if (found.status === "found" || found.status === "opaque" || !path.startsWith("/")) return undefined;
  return { code: "program-loader", message: `"${file.path}" needs the loader ${path}, which is not there` };
}

const BINFMT = "/proc/sys/fs/binfmt_misc";
const OWN_FILES = ["register", "status"];

/** binfmt_misc: programs of other machines are handed to an emulator. */
function hasHandlers(view: BundleView): boolean {
  if (!view.live) return true;
  return (
    view
      .tree("/")
      ?.names(BINFMT)
      .some((name) => !OWN_FILES.includes(name)) === true
  );
}
