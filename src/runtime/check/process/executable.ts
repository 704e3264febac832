/** ELF headers, as far as execve(2) looks at them (elf(5)). Pure. */
const MAGIC = 0x464c457f;
const CLASS_64 = 2;
const LITTLE_ENDIAN = 1;
const TYPE_EXECUTABLE = 2;
const TYPE_SHARED = 3;
const SEGMENT_INTERPRETER = 3;

/** e_machine of the platforms images are built for (elf.h), by the names people use. */
const MACHINES: Readonly<Record<number, string>> = {
  3: "x86 (32 bit)",
  8: "mips",
  20: "powerpc",
  21: "ppc64",
  22: "s390x",
  40: "arm (32 bit)",
  62: "x86-64",
  183: "arm64",
  243: "riscv64",
  258: "loongarch64",
};

/** What runs on the machines that runt is built for; the 32 bit relatives depend on the kernel. */
export const NATIVE_MACHINES: Readonly<Record<"amd64" | "arm64", readonly number[]>> = { amd64: [62, 3], arm64: [183, 40] };

export interface Elf {
  readonly machine: number;
  /** Something that can be executed, not an object file or a core dump. */
  readonly executable: boolean;
  readonly headers: { readonly offset: number; readonly size: number; readonly count: number };
  readonly wide: boolean;
  readonly little: boolean;
}

export function machineName(machine: number): string {
  return MACHINES[machine] ?? `machine ${machine}`;
}

/** undefined: not ELF, or too short to be. */
export function parseElf(bytes: ArrayBuffer): Elf | undefined {
  if (bytes.byteLength < 52) return undefined;
  const view = new DataView(bytes);
  if (view.getUint32(0, true) !== MAGIC) return undefined;
  const wide = view.getUint8(4) === CLASS_64;
  if (wide && bytes.byteLength < 64) return undefined;
  const little = view.getUint8(5) === LITTLE_ENDIAN;
  const type = view.getUint16(16, little);
  return {
    machine: view.getUint16(18, little),
    executable: type === TYPE_EXECUTABLE || type === TYPE_SHARED,
    headers: wide
      ? { offset: Number(view.getBigUint64(32, little)), size: view.getUint16(54, little), count: view.getUint16(56, little) }
      : { offset: view.getUint32(28, little), size: view.getUint16(42, little), count: view.getUint16(44, little) },
    wide,
    little,
  };
}

/** Where in the file the path of the loader (PT_INTERP) is; undefined: a static program. `table`: the program headers. */
export function findLoader(elf: Elf, table: ArrayBuffer): { readonly offset: number; readonly length: number } | undefined {
  const view = new DataView(table);
  const { size, count } = elf.headers;
  for (let at = 0; at + size <= table.byteLength && at < size * count; at += size) {
    if (size < (elf.wide ? 56 : 32)) return undefined;
    if (view.getUint32(at, elf.little) !== SEGMENT_INTERPRETER) continue;
    return elf.wide
      ? { offset: Number(view.getBigUint64(at + 8, elf.little)), length: Number(view.getBigUint64(at + 32, elf.little)) }
      : { offset: view.getUint32(at + 4, elf.little), length: view.getUint32(at + 16, elf.little) };
  }
  return undefined;
}

/** The first line of a script, as the kernel reads it (execve(2), interpreter scripts). Pure. */

interface FirstLine {
  /** "" when nothing follows #!. */
  readonly interpreter: string;
  /** The line ends with CR LF: the kernel takes the CR as part of the last word. */
  readonly carriageReturn: boolean;
}

const BYTE_ORDER_MARK = "\u00ef\u00bb\u00bf";

/** `head`: the beginning of the file, one character a byte. undefined: no script. */
export function parseFirstLine(head: string): FirstLine | undefined {
  if (!head.startsWith("#!")) return undefined;
  const [line = ""] = head.slice(2).split("\n", 1);
  const carriageReturn = line.endsWith("\r");
  const [interpreter = ""] = line.replace(/^[ \t]+/, "").split(/[ \t]/, 1);
  return { interpreter: interpreter.replace(/\r$/, ""), carriageReturn };
}

/** What a file is that is neither ELF nor a script, for the error. */
export function describeOther(head: string): string {
  if (head === "") return "it is empty";
  if (head.startsWith(`${BYTE_ORDER_MARK}#!`)) return "a byte order mark stands before the #! of its first line";
  if (/^\s+#!/.test(head)) return "white space stands before the #! of its first line";
  // Bytes that no text has.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (/[\u0000-\u0008\u000e-\u001a]/.test(head)) return "it is neither a script nor a program (ELF)";
  return "it is a text without #! and an interpreter in its first line";
}
