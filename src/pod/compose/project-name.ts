/** The name of a project that its author has not named. */

/** A group has at most so many characters. */
const LONGEST = 63;

/** The project that a directory is without another name. Source: Compose, NormalizeProjectName; as the name of a group it ends with a letter or digit, too. */
export function projectOf(directory: string): string {
  const allowed = directory
    .replace(/^.*\//s, "")
    .toLowerCase()
    .replaceAll(/[^-_a-z0-9]/g, "");
  return allowed
    .replace(/^[-_]+/, "")
    .slice(0, LONGEST)
    .replace(/[-_]+$/, "");
}
