/** Shows what the guest has printed on its console, as the monitor keeps it. */
import * as host from "../../host/index.ts";
import { encodeFrame, FrameDecoder } from "../channel/index.ts";
import { Inlet, Loop, Outlet } from "../flow/index.ts";
import * as kernel from "../kernel.ts";
import { type ConsoleRequest, fromEnvironment, SOCKET_VARIABLE } from "../request.ts";

const STREAM = 1;
const STDOUT = 1;
const READ_AT_ONCE = 65_536;
const FAILED = 1;
/** A monitor that runs answers at once. */
const PATIENCE_MS = 10_000;

export function readConsole(): never {
  const { follows } = fromEnvironment(host.getenv) as ConsoleRequest;
  const loop = new Loop();
  const connection = host.connect(host.getenv(SOCKET_VARIABLE) ?? "");
  kernel.setNonBlocking(connection);
  const decoder = new FrameDecoder("guest");
  let status: number | undefined;
  const end = (found: number): void => {
    status ??= found;
  };
  const screen = new Outlet(loop, STDOUT, { shared: true, broken: () => end(0) });
  const request = new Outlet(loop, connection, { shared: true });
  new Inlet(loop, connection, {
    // What a screen does not take stays with the monitor, which drops what is too much.
    room: () => (screen.waiting < READ_AT_ONCE ? READ_AT_ONCE : 0),
    data: (bytes) => {
      if (follows) loop.setAlarm(undefined);
      for (const { name, payload } of decoder.push(bytes)) {
        if (name === "stdout") screen.push(payload);
        else if (name === "exit") end(payload[0]!);
      }
    },
    // With the machine the console ends.
    end: () => end(follows ? 0 : FAILED),
  });
  loop.setAlarm(PATIENCE_MS, () => {
    host.write(2, `runt: machine: it has not shown its console after ${PATIENCE_MS / 1000} seconds\n`);
    host.exit(FAILED);
  });
  loop.after = () => {
    if (status !== undefined && screen.waiting === 0) host.exit(status);
  };
  request.push(encodeFrame("console", STREAM, new Uint8Array([follows ? 1 : 0])));
  return loop.run();
}
