/** The last of a machine on the host: a hook that `delete` runs when everything has ended. */
import * as host from "../host/index.ts";
import { leaveInterfaces } from "./network/host.ts";
import { type EndRequest, fromEnvironment } from "./request.ts";

export function leave(): never {
  const { network } = fromEnvironment(host.getenv) as EndRequest;
  try {
    leaveInterfaces(network);
  } catch (error) {
    // Whoever has made the namespace may have removed it.
    if (!host.isErrno(error, "ENOENT")) throw error;
  }
  return host.exit(0);
}
