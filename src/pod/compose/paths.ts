/** Resolves paths of a Compose file against its directory. The result contains no "." and "..", and does not leave the root. */
export function absolute(directory: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${directory}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** Parent directory of an absolute path. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

/** Path of a mount in the container: "/data/" becomes "/data". Text that is no absolute path is returned unchanged, and refused later. */
export function placeOf(target: string): string {
  return target.startsWith("/") ? absolute("/", target) : target;
}
