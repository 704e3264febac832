/** Directories that an archive implies: an entry a/b/c is unpacked with a and a/b, also where nothing else names these. */

export class Directories {
  readonly #known = new Set<string>();

  /** How many come with an entry of this name that none before it has brought. */
  impliedBy(name: string): number {
    const parts = name.split("/").filter((part) => part !== "" && part !== ".");
    let count = 0;
    // Where a directory is known, so are those above it.
    for (
      let path = parts.slice(0, -1).join("/");
      path !== "" && !this.#known.has(path);
      path = path.slice(0, Math.max(0, path.lastIndexOf("/")))
    ) {
      this.#known.add(path);
      count++;
    }
    return count;
  }
}
