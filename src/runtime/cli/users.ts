import * as host from "../host/index.ts";

/** A list asks for the same one again and again. */
const names = new Map<number, string>();

/** Name of a uid in the host's /etc/passwd, or `#uid`. */
export function userName(uid: number): string {
  let name = names.get(uid);
  if (name === undefined) {
    name = readName(String(uid)) ?? `#${uid}`;
    names.set(uid, name);
  }
  return name;
}

function readName(uid: string): string | undefined {
  try {
    return host.userName(uid);
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "EACCES")) return undefined;
    throw error;
  }
}
