/** How a daemon is started on this host. */
import { exists, realPath, variable } from "./platform/index.ts";

/** What the hint needs to know of the host. */
export interface Here {
  exists(path: string): boolean;
  /** Absolute path of this program, without links; undefined: unknown. */
  readonly program: string | undefined;
  /** Directories of programs, separated by colons. */
  readonly path: string | undefined;
}

const SYSTEMD = "/run/systemd/system";
const UNITS = ["/etc/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"];
/** Socket of a daemon without options. */
const USUAL = "/run/runtd/admin.sock";
const NAMES = /^(.*)\/(?:admin|read)\.sock$/;

/** undefined: a daemon with this socket cannot be started, or no daemon is installed. */
export function howToStart(socketPath: string, here: Here = thisHost()): string | undefined {
  const [, directory] = NAMES.exec(socketPath) ?? [];
  if (directory === undefined) return undefined;
  const hasUnit = here.exists(SYSTEMD) && UNITS.some((one) => here.exists(`${one}/runtd.service`));
  if (socketPath === USUAL && hasUnit) return "Start it as root with: systemctl start runtd";
  const daemon = daemonIn(here);
  if (daemon === undefined) return undefined;
  return `Start it as root with: ${daemon}${socketPath === USUAL ? "" : ` --run-dir ${directory}`}`;
}

/** The daemon beside this program, as in the tree that it was built in, or the one in PATH. */
function daemonIn({ exists: isThere, program, path = "" }: Here): string | undefined {
  const beside = program?.replace(/[^/]*$/, "runtd");
  if (beside !== undefined && isThere(beside)) return beside;
  return path.split(":").some((directory) => directory !== "" && isThere(`${directory}/runtd`)) ? "runtd" : undefined;
}

function thisHost(): Here {
  return { exists, program: realPath("/proc/self/exe"), path: variable("PATH") };
}
