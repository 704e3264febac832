import * as host from "../host/index.ts";

let names: ReadonlyMap<string, string> | undefined;

/** Name of a uid in the host's /etc/passwd, or `#uid`. */
export function userName(uid: number): string {
  names ??= readNames();
  return names.get(String(uid)) ?? `#${uid}`;
}

function readNames(): Map<string, string> {
  try {
    return new Map(
      host
        .readFile("/etc/passwd")
        .split("\n")
        .map((line) => line.split(":"))
        .map(([name = "", , id = ""]) => [id, name]),
    );
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "EACCES")) return new Map();
    throw error;
  }
}
