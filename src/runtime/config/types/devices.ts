/** Device nodes, device rules and network devices of the container config. */
import type { From } from "./common.ts";

export interface DeviceNode extends From {
  readonly path: string;
  readonly type: "c" | "b" | "p";
  readonly major: number;
  readonly minor: number;
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** A network device of the host that the container gets. */
export interface NetDeviceConfig extends From {
  /** On the host. */
  readonly device: string;
  /** In the container; may have one %d in it, for a number that makes it unique. */
  readonly name: string;
}

/** One row of the device allow list in OCI terms; -1 is the wildcard. */
export interface DeviceRule extends From {
  readonly allow: boolean;
  readonly type: "a" | "b" | "c";
  readonly major: number;
  readonly minor: number;
  /** Subset of "rwm". */
  readonly access: string;
}
