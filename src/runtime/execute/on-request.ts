/** What the verbs and the command line seldom ask of this room: loaded when they do. */
import { loadSync } from "../host/index.ts";
import type * as recording from "./exit-record.ts";
import type * as machine from "./in-machine.ts";
import type * as killing from "./kill-below.ts";

/** For create and run with --exit-record. */
export function exitRecord(): typeof recording {
  return loadSync(import("./exit-record.ts"));
}

/** For kill --cgroup. */
export function cgroupsBelow(): typeof killing {
  return loadSync(import("./kill-below.ts"));
}

/** For a container in a machine. */
export function inMachine(): typeof machine {
  return loadSync(import("./in-machine.ts"));
}
