/** The part of `node:path` that commander uses to derive a program's name. */
export function basename(path: string, suffix = ""): string {
  const name = path.replace(/\/+$/, "").replace(/^.*\//s, "");
  return suffix !== "" && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

export function extname(path: string): string {
  return /[^/](\.[^./]*)$/.exec(path)?.[1] ?? "";
}
