/** Where the functions of a program begin, from the linker's map. Each has a section of its own. */

export interface Placed {
  readonly address: string;
  readonly name: string;
}

/** What gcc appends to the name of a part or a variant of a function, and puts before it by its use. */
const SUFFIX = /\.(?:isra|part|constprop|cold|lto_priv)\b.*$/;
const PREFIX = /^(?:startup|unlikely|hot|exit)\./;

/** A long name has its address on the next line. Functions of libc that are written in assembly are named by their file. */
const SECTION = /^ \.text(?:\.(\S+))?\s+0x([0-9a-f]+)\s+0x[0-9a-f]+ (\S+)$/gm;
const ASSEMBLY = /(libc\.a)\((\S+)\)$/;

export function functionsOf(map: string): Placed[] {
  const placed = map.slice(map.indexOf("Linker script and memory map"));
  return [...placed.matchAll(SECTION)].flatMap(([, section, digits, file]) => {
    const address = digits!.replace(/^0+/, "");
    if (address === "") return [];
    if (section !== undefined) return [{ address, name: section.replace(PREFIX, "").replace(SUFFIX, "") }];
    const [, archive, member] = ASSEMBLY.exec(file!) ?? [];
    return archive === undefined ? [] : [{ address, name: `${archive}:${member}` }];
  });
}
