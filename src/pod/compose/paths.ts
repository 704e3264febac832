/** Paths of a Compose file count from its directory. Without "." and ".." in it; above the root there is nothing. */
export function absolute(directory: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${directory}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** Of an absolute path. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}
