/** Programs by their names. Engines call runt without PATH, and criu runs tar, ip and iptables. */
import * as host from "../host/index.ts";

const USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** A path, or a name that is looked for. undefined: it is not there. */
export function findProgram(name: string): string | undefined {
  const candidates = name.includes("/")
    ? [name]
    : (host.getenv("PATH") || USUAL_PATH).split(":").map((directory) => `${directory}/${name}`);
  return candidates.find((path) => path.startsWith("/") && isProgram(path));
}

function isProgram(path: string): boolean {
  return (host.stat(path)?.mode ?? 0) >> 12 === 8 && host.access(path, host.ACCESS.EXECUTE);
}

/** The environment of criu: this process's own (undefined), or where that has no PATH one that has. */
export function environment(): readonly string[] | undefined {
  if (host.getenv("PATH")) return undefined;
  const home = host.getenv("HOME");
  return [`PATH=${USUAL_PATH}`, ...(home === undefined ? [] : [`HOME=${home}`])];
}
