/** Lexical path helpers; nothing here looks at a filesystem. */

/** Collapse ".", ".." and repeated slashes of an absolute path. */
export function cleanPath(path: string): string {
  // Most paths are clean already.
  if (!path.includes("//") && !path.includes("/.") && (path.length === 1 || !path.endsWith("/"))) return path;
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** The same of a target in the container, which is written with or without its slash. */
export function cleanTarget(path: string): string {
  return cleanPath(path.startsWith("/") ? path : `/${path}`);
}

/** `path` from `base` (absolute) when relative, cleaned. */
export function absolutePath(base: string, path: string): string {
  return cleanPath(path.startsWith("/") ? path : `${base}/${path}`);
}

/** A member of a value that nothing is known about; undefined where there is none. */
export function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
