/** The setuid programs of shadow-utils: newuidmap(1), newgidmap(1). */
import * as host from "../host/index.ts";

/** Directories in which the setuid programs are looked for: PATH is the caller's, these are the administrator's. */
const DIRECTORIES = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** Absolute path, undefined if there is none. */
export function findIdProgram(name: "newuidmap" | "newgidmap"): string | undefined {
  return DIRECTORIES.map((directory) => `${directory}/${name}`).find((path) => host.stat(path) && host.access(path, host.ACCESS.EXECUTE));
}
