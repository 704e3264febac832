/** System calls for a daemon that cannot make them. */
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { startSlice, stopSlice } from "../../verbs/index.ts";
import type { Verb } from "../context.ts";
import { print } from "../output.ts";

const STDIN = 0;
const HANGUP = 0x10;
/** A manager that is busy with a whole machine takes long: a message whose sender it does not find any more is none. */
const PROCESSED_MS = 30_000;

export const verb: Verb = ({ positionals: [action = "", ...words] }) => {
  if (action === "notify" && words.length > 0) return notify(words);
  if (action === "peer" && words.length === 0) {
    print(`${JSON.stringify(host.peerCredentials(STDIN))}\n`);
    return 0;
  }
  if (action === "slice" && words.length > 1) return slice(words);
  throw new RuntError(
    "usage",
    `service ${[action, ...words].join(" ")}: use notify with assignments, peer, or slice start or stop with a name`,
  );
};

function slice([action = "", name = "", ...properties]: readonly string[]): number {
  const wrong = properties.find((word) => !/^[A-Za-z]+=./.test(word));
  if (wrong !== undefined) throw new RuntError("usage", `${wrong} is no property of a unit`);
  if (action === "start") startSlice(name, properties);
  else if (action === "stop" && properties.length === 0) stopSlice(name);
  else throw new RuntError("usage", `service slice ${action}: use start or stop`);
  return 0;
}

function notify(assignments: readonly string[]): number {
  const wrong = assignments.find((word) => !/^[A-Z_]+=[^\n]*$/.test(word));
  if (wrong !== undefined) throw new RuntError("usage", `${wrong} is no assignment`);
  const address = host.getenv("NOTIFY_SOCKET");
  if (!address || !/^[/@]./.test(address))
    throw new RuntError("usage", `NOTIFY_SOCKET=${address ?? ""}: use an absolute path, or @ and a name`);
  const socket = host.connectDatagram(address);
  host.sendDatagram(socket, assignments.join("\n"), -1);
  // The manager looks up who has sent it, and this process must not be gone by then: it closes the descriptor behind all that was sent before.
  const [ours, theirs] = host.socketpair();
  host.sendDatagram(socket, "BARRIER=1", theirs);
  host.close(theirs);
  const [seen = 0] = host.poll([ours], [0], PROCESSED_MS);
  return (seen & HANGUP) === 0 ? 1 : 0;
}
