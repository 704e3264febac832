/**
 * The D-Bus connection of bin/runt in its own engine, on a real socket. `client SOCKET echo NAME` sends the sample to a service and
 * compares what comes back; `client SOCKET owner NAME` prints the owner of a name; `client SOCKET hello` only connects, and waits until
 * that is taken.
 */
import "../../../src/runtime/cli/polyfill.ts";
import { openConnection, openStream } from "../../../src/runtime/cgroup/systemd/driver/connection.ts";
import { marshal } from "../../../src/runtime/cgroup/systemd/wire/marshal.ts";
import * as host from "../../../src/runtime/host/index.ts";
import { SAMPLE, SAMPLE_SIGNATURE } from "./sample.ts";

const [, socket = "", mode = "", name = ""] = host.argv();

function run(): string {
  const connection = openConnection(openStream(socket), false);
  if (mode === "hello") {
    connection.requireAccess();
    return "connected";
  }
  if (mode === "owner") {
    const bus = { destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus" };
    return String(connection.call({ ...bus, member: "GetNameOwner", signature: "s", values: [name] }).values[0]);
  }
  const { values } = connection.call({
    destination: name,
    path: "/echo",
    interface: "test.Echo",
    member: "Echo",
    signature: SAMPLE_SIGNATURE,
    values: SAMPLE,
  });
  const [sent, received] = [SAMPLE, values].map((list) => marshal(SAMPLE_SIGNATURE, list).join());
  return sent === received ? "equal" : `sent ${sent}\nreceived ${received}`;
}

try {
  host.write(1, `${run()}\n`);
} catch (error) {
  host.write(1, `${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}\n`);
}
host.exit(0);
