/** The loopback device of another network namespace. */
import * as host from "../host/index.ts";
import { changeLink } from "./route.ts";

/** Every network namespace has it, as its first device. */
const LOOPBACK = 1;

/** `path` names the namespace. */
export function raiseLoopback(path: string): void {
  const namespace = host.open(path, host.O.RDONLY);
  const socket = host.netlinkOpen(namespace);
  changeLink(socket, LOOPBACK, { up: true });
  host.close(socket);
  host.close(namespace);
}
