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

/** A path as mountinfo has it: the kernel writes space, tab, newline and backslash as three octal digits. */
export function decodeMountPath(path: string): string {
  if (!path.includes("\\")) return path;
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
