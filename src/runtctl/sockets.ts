/** Paths of the daemon's sockets. */
import { join } from "node:path";

/** The order in which sockets are tried: a user who may not use the first may be allowed to read from the next. */
export type Sockets = readonly [string, ...string[]];

const RUN_DIR = "/run/runtd";

export interface SocketChoice {
  readonly socket: string | undefined;
  readonly runDir: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
}

/** The option wins over the environment. A socket that is named in either is the only one that is tried. */
export function socketsIn({ socket, runDir, environment }: SocketChoice): Sockets {
  const named = socket ?? (runDir === undefined ? environment["RUNTD_SOCKET"] : undefined);
  if (named !== undefined) return [named];
  const directory = runDir ?? RUN_DIR;
  return [join(directory, "admin.sock"), join(directory, "read.sock")];
}
