/** What the linker has put into a program, by the map that it writes (ld -Map). */

/** An object file, or an archive with those of its members that have left something in the program. */
export interface Linked {
  readonly file: string;
  readonly members: readonly string[];
}

const MEMORY_MAP = "Linker script and memory map";
/** ` SECTION ADDRESS SIZE FILE`; a long name of a section has a line of its own. */
const CONTRIBUTION = /^ (\S+)\s+0x([0-9a-f]+) +0x([0-9a-f]+) (\S.*)$/gm;
/** Between sections: on arm64 the instruction that fills a gap stands where else the file does. */
const FILLING = "*fill*";
const ARCHIVE_MEMBER = /^(.*)\(([^()]+)\)$/;

/** Sorted by file. Sections that were thrown away, are empty, or are no part of the running program do not count. */
export function linkedFiles(map: string): Linked[] {
  const start = map.indexOf(MEMORY_MAP);
  if (start < 0) throw new Error(`the linker's map has no "${MEMORY_MAP}"`);
  const files = new Map<string, Set<string>>();
  for (const [, section, address, size, from] of map.slice(start).matchAll(CONTRIBUTION)) {
    if (Number.parseInt(address!, 16) === 0 || Number.parseInt(size!, 16) === 0 || section === ".comment" || section === FILLING) continue;
    const [, archive, member] = ARCHIVE_MEMBER.exec(from!) ?? [];
    const members = files.get(archive ?? from!) ?? new Set();
    if (member !== undefined) members.add(member);
    files.set(archive ?? from!, members);
  }
  return [...files].map(([file, members]) => ({ file, members: [...members].sort() })).sort((a, b) => (a.file < b.file ? -1 : 1));
}
