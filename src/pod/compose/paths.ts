import type { ServicePlace } from "./place.ts";

/** Resolves paths of a Compose file against its directory. The result contains no "." and "..", and does not leave the root. */
export function absolute(directory: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${directory}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** As `absolute`, but a path that begins with "~" stays: its home is found when the file is translated. */
export function absoluteOrHome(directory: string, path: string): string {
  return path.startsWith("~") ? path : absolute(directory, path);
}

/** Resolves a path of a Compose file on this host. `~` is the home of the user who applies it. Source: compose-go, paths/resolve.go, paths/home.go. */
export function hostPath(
  { directory, environment, refuse }: Pick<ServicePlace, "directory" | "environment" | "refuse">,
  path: string,
  at: readonly (string | number)[],
): string {
  if (!path.startsWith("~")) return absolute(directory, path);
  const home = environment["HOME"];
  if (home === undefined || /^~[^/]/.test(path)) refuse("write the path in full: whose home is meant is not known", at);
  return absolute(directory, `${home ?? ""}${path.slice(1)}`);
}

/** Parent directory of an absolute path. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

/** Path of a mount in the container: "/data/" becomes "/data". Text that is no absolute path is returned unchanged, and refused later. */
export function placeOf(target: string): string {
  return target.startsWith("/") ? absolute("/", target) : target;
}
