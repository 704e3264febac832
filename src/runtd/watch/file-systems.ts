/** On which file systems watched files are: one that is not mounted has taken its files along, and nobody has removed them. */
import { dirname } from "node:path";
import { mountOf } from "../../node/index.ts";

/** For one look at a directory. */
export class FileSystems {
  readonly #known = new Map<string, string>();

  /**
   * Of the directory of a file, or of the next one above it that is there. It has type, source, the directory of it that is mounted, and where. The number
   * of its device would be another one after a reboot, and that of a directory's inode after a checkout. @param path absolute
   */
  of(path: string): string {
    const directory = dirname(path);
    const known = this.#known.get(directory) ?? wordsOf(directory) ?? this.of(directory);
    this.#known.set(directory, known);
    return known;
  }
}

/** undefined: there is no such directory. */
function wordsOf(directory: string): string | undefined {
  try {
    const { type, source, root, point } = mountOf(directory) ?? {};
    return JSON.stringify([type, source, root, point]);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** Where it is mounted. @param words of `FileSystems.of` */
export function pointIn(words: string | undefined): string | undefined {
  return words === undefined ? undefined : (JSON.parse(words)[3] ?? undefined);
}
