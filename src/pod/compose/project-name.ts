/** The name of a project that its author has not named. */

/** A group has at most so many characters. */
const LONGEST = 63;

/** The project that a directory is without another name. As the name of a group it ends with a letter or digit, too. */
export function projectOf(directory: string): string {
  return normalName(directory.replace(/^.*\//s, ""))
    .slice(0, LONGEST)
    .replace(/[-_]+$/, "");
}

/** The name as Compose changes it. Source: compose-go, NormalizeProjectName. */
export function normalName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^-_a-z0-9]/g, "")
    .replace(/^[-_]+/, "");
}

/** Whether Compose takes it as the name that the user gives. */
export function isProjectName(name: string): boolean {
  return name !== "" && name === normalName(name);
}
