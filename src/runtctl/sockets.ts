/** Where the daemon is. */
import { join } from "node:path";

/** Tried in this order: whoever may not connect to the first may be allowed to read from the next. */
export type Sockets = readonly [string, ...string[]];

const RUN_DIR = "/run/runtd";

export interface SocketChoice {
  readonly socket: string | undefined;
  readonly runDir: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
}

/** An option says more than the environment. One that is named is the only one. */
export function socketsIn({ socket, runDir, environment }: SocketChoice): Sockets {
  const named = socket ?? (runDir === undefined ? environment["RUNTD_SOCKET"] : undefined);
  if (named !== undefined) return [named];
  const directory = runDir ?? RUN_DIR;
  return [join(directory, "admin.sock"), join(directory, "read.sock")];
}
