/** Paths of the daemon's sockets. */

/** Sockets in the order in which they are tried. A user who may not connect to the first one may be allowed to read from the next. */
export type Sockets = readonly [string, ...string[]];

const RUN_DIR = "/run/runtd";

export interface SocketChoice {
  readonly socket: string | undefined;
  readonly runDir: string | undefined;
  readonly environment: Readonly<Partial<Record<"RUNTD_SOCKET", string | undefined>>>;
}

/** The option takes precedence over the environment. If either names a socket, only that one is tried. */
export function socketsIn({ socket, runDir, environment }: SocketChoice): Sockets {
  const named = socket ?? (runDir === undefined ? environment["RUNTD_SOCKET"] : undefined);
  if (named !== undefined) return [named];
  const directory = (runDir ?? RUN_DIR).replace(/\/*$/, "/");
  return [`${directory}admin.sock`, `${directory}read.sock`];
}
