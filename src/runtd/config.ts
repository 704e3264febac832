/** What the daemon is started with. */
import { isAbsolute, join } from "node:path";
import { parseArgs } from "node:util";

export interface Configuration {
  /** Store, executors and logs. */
  readonly stateDir: string;
  /** The sockets. */
  readonly runDir: string;
  /** Program of the runtime; undefined: that of the package, RUNT_BINARY, PATH. */
  readonly runtime: string | undefined;
  /** Path of the cgroup below which all tasks are. */
  readonly cgroupParent: string;
}

export const USAGE = `Usage: runtd [--state-dir DIR] [--run-dir DIR] [--cgroup-parent PATH] [--runtime FILE]

  --state-dir DIR       store, containers and logs; default /var/lib/runtd
  --run-dir DIR         admin.sock and read.sock; default /run/runtd
  --cgroup-parent PATH  cgroup of all tasks; default /runtd
  --runtime FILE        the program runt; default: that of the package, RUNT_BINARY, PATH
  --help                this text
`;

/** undefined: the usage was asked for. @throws Error, which says what is wrong with the arguments */
export function configurationOf(args: readonly string[]): Configuration | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      "state-dir": { type: "string", default: "/var/lib/runtd" },
      "run-dir": { type: "string", default: "/run/runtd" },
      "cgroup-parent": { type: "string", default: "/runtd" },
      runtime: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const configuration = {
    stateDir: values["state-dir"],
    runDir: values["run-dir"],
    cgroupParent: values["cgroup-parent"],
    runtime: values.runtime,
  };
  for (const [name, path] of Object.entries(configuration)) {
    if (path !== undefined && !isAbsolute(path)) throw new Error(`${name}: ${path} is not absolute`);
  }
  return configuration;
}

export function socketsOf({ runDir }: Configuration) {
  return {
    /** Whoever may connect can do what root can. */
    admin: { path: join(runDir, "admin.sock"), mode: 0o600, group: undefined },
    read: { path: join(runDir, "read.sock"), mode: 0o660, group: "runtd-read" },
  } as const;
}
